/** Which files never leave this machine with a snapshot, although git would take them. */

/** Names that usually hold passwords, keys or tokens. Tracked files travel: the remote has them already. */
const SECRET_NAMES = [
  /^\.env(?:\..+)?$/,
  /^\.(?:npmrc|netrc|pypirc|pgpass|htpasswd|git-credentials|dockercfg)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/,
  /^(?:credentials|secrets?|service-account)(?:\.[\w-]+)*\.(?:json|ya?ml|toml|ini)$/,
];
const SECRET_FOLDERS = /(?:^|\/)\.(?:ssh|aws|gnupg|kube|azure|docker)\//;
const EXAMPLES = /(?:^|[._-])(?:example|sample|template|dist)$/;

export function looksSecret(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  if (EXAMPLES.test(name)) return false;
  return SECRET_FOLDERS.test(path.toLowerCase()) || SECRET_NAMES.some((pattern) => pattern.test(name));
}
