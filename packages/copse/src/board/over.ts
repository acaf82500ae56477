/** The same object with some methods replaced. Methods of classes keep their `this`. */
export function over<T extends object>(whole: T, own: Partial<T>): T {
  return new Proxy(whole, {
    get(target, name) {
      if (name in own) return Reflect.get(own, name) as unknown;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
