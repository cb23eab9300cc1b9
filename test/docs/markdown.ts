/** Headings and links of a page, as code hosts show them. */

const prose = (text: string): string => text.replace(/^ *```[^]*?^ *```$/gm, '')

/** Headings of a depth or more, fenced blocks left out. */
export const headings = (text: string, depth = 1): string[] =>
  [...prose(text).matchAll(/^(#+) (.+)$/gm)].flatMap(([, marks, heading]) =>
    String(marks).length >= depth ? [String(heading)] : [],
  )

/** Targets of all links and pictures, fenced blocks and code left out. */
export const links = (text: string): string[] =>
  [...prose(text).matchAll(/(?<!`)\[(?:`[^`\n]*`|[^\]`])*\]\(([^)\s]+)\)/g)].map(([, target]) =>
    String(target),
  )
