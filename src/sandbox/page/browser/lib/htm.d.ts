declare const htm: {
  bind(create: unknown): (strings: TemplateStringsArray, ...values: unknown[]) => unknown
}
// oxlint-disable-next-line import/no-default-export -- the library has no other
export default htm
