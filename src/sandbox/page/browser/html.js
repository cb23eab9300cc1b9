import { h } from './lib/preact.js'
import htm from './lib/htm.js'

/**
 * Makes elements from a template. What stands in `${}` becomes a text or an attribute, never markup.
 * @type {(strings: TemplateStringsArray, ...values: any[]) => any}
 */
export const html = htm.bind(h)
