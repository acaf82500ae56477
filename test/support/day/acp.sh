#!/bin/sh
# Speaks the Agent Client Protocol: one line of JSON for each message. DAY is the folder of the day.
session=talk-$COPSE_SESSION_ID

answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }

while IFS= read -r line; do
  rest=${line#*\"id\":}
  id=${rest%%,*}
  rest=${line#*\"method\":\"}
  case ${rest%%\"*} in
    initialize)
      answer '"result":{"protocolVersion":1,"agentInfo":{"name":"day"},"agentCapabilities":{"loadSession":true}}'
      ;;
    session/new) answer "\"result\":{\"sessionId\":\"$session\"}" ;;
    session/prompt)
      sh "$DAY/work.sh" "$DAY" >&2
      code=$?
      if [ "$code" = 127 ]; then
        answer '"error":{"code":-32000,"message":"Authentication required"}'
        continue
      fi
      [ "$code" = 0 ] || exit "$code"
      printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"Done."}}}}\n' "$session"
      answer '"result":{"stopReason":"end_turn","usage":{"inputTokens":100,"outputTokens":10}}'
      ;;
    session/load | session/set_mode) answer '"result":{}' ;;
    *) ;;
  esac
done
