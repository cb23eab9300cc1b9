/** What the site uses of its generator, which has no types of its own. */
declare module '@11ty/eleventy' {
  export interface MarkdownToken {
    type: string
    tag: string
    content: string
    children: MarkdownToken[] | null
    attrGet(name: string): string | null
    attrSet(name: string, value: string): void
  }
  export interface Markdown {
    core: {
      ruler: {
        push(
          name: string,
          rule: (state: { tokens: MarkdownToken[]; env: { source: string } }) => void,
        ): void
      }
    }
    renderer: { rules: Record<string, () => string> }
    utils: { escapeHtml(text: string): string }
  }
  interface Config {
    setTemplateFormats(formats: string[]): void
    addTemplate(path: string, content: unknown, data?: object): void
    amendLibrary(name: 'md', amend: (md: Markdown) => void): void
  }
  export default class Generator {
    constructor(
      input: string,
      output: string,
      o: { quietMode: boolean; config: (config: Config) => object },
    )
    disableLogger(): void
    write(): Promise<unknown>
  }
}
