/** `task.add_item` is `task` and `addItem`. */
export function methodOf(name: string): { readonly group: string; readonly method: string } {
  const [group = '', words = ''] = name.split('.');
  return { group, method: words.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) };
}
