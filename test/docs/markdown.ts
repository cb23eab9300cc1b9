/** Headings, anchors and links of a page, as code hosts show them. */

const prose = (text: string): string => text.replace(/^ *```[^]*?^ *```$/gm, '')

/** Headings of a depth or more, fenced blocks left out. */
export const headings = (text: string, depth = 1): string[] =>
  [...prose(text).matchAll(/^(#+) (.+)$/gm)].flatMap(([, marks, heading]) =>
    String(marks).length >= depth ? [String(heading)] : [],
  )

/** A heading as code hosts link to it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

/** Every anchor of a page, of headings and of lines; headings with the same words are numbered. */
export function anchors(text: string): Set<string> {
  const found = new Set<string>()
  for (const heading of headings(text)) {
    const anchor = anchorOf(heading)
    let name = anchor
    for (let count = 1; found.has(name); count++) name = `${anchor}-${count}`
    found.add(name)
  }
  for (const [, id] of prose(text).matchAll(/<a id="([^"]+)">/g)) found.add(String(id))
  return found
}

/** Targets of all links and pictures, fenced blocks and code left out. */
export const links = (text: string): string[] =>
  [...prose(text).matchAll(/(?<!`)\[(?:`[^`\n]*`|[^\]`])*\]\(([^)\s]+)\)/g)].map(([, target]) =>
    String(target),
  )
