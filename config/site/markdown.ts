/** Headings, anchors and links of a page, as code hosts show them. */

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

/** A heading as code hosts link to it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

/** Numbers anchors of the same words on one page. */
export function numbered(): (anchor: string) => string {
  const found = new Set<string>()
  return (anchor) => {
    let name = anchor
    for (let count = 1; found.has(name); count++) name = `${anchor}-${count}`
    found.add(name)
    return name
  }
}
