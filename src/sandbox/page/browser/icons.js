import { html } from './html.js'

/** Drawn for a box of 20 by 20, in the colour of the text. */
const PATHS = {
  lock: 'M6 9V6.5a4 4 0 0 1 8 0V9M5 9h10v8H5z',
  open: 'M6 9V6.5a4 4 0 0 1 7.6-1.7M5 9h10v8H5z',
  person:
    'M10 10a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3.5 17c.6-3.2 3.2-5 6.500-5s5.900 1.800 6.500 5',
  bot: 'M4 7h12v9H4zM10 7V3.500M7.500 11v1M12.500 11v1M2 10.500v2M18 10.500v2',
  service: 'M3 4h14v5H3zM3 11h14v5H3zM6 6.500h.01M6 13.500h.01',
  group:
    'M7 9.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 16c.4-2.800 2.400-4.200 5-4.200s4.600 1.400 5 4.200M12.500 9a2.600 2.600 0 1 0-.6-5.100M14 12c2.200.300 3.700 1.600 4 4',
  quote: 'M8 5 3 9.500 8 14v-3c4.500 0 7 1.200 9 4-.500-5-3.500-7.500-9-7.500z',
  edit: 'M4 16l.800-3.500L13.500 3.800l2.700 2.700L7.500 15.200z',
  remove: 'M4.500 6h11M8 6V4h4v2M6 6l.700 10.500h6.600L14 6',
  attach:
    'M14.500 9.500 9.300 14.700a3 3 0 0 1-4.300-4.300l6-6a2 2 0 0 1 2.900 2.900l-5.900 5.800a1 1 0 0 1-1.400-1.400l5-5',
  send: 'M3 10 17 3.500 13 17l-3.500-5.500z',
  plus: 'M10 4v12M4 10h12',
  menu: 'M3 5.500h14M3 10h14M3 14.500h14',
  close: 'M5 5l10 10M15 5 5 15',
  world: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM3 10h14M10 3c4 4 4 10 0 14M10 3c-4 4-4 10 0 14',
  activity: 'M3 10h3l2.500-6 3.500 12 2.500-6H17',
  down: 'M5 8l5 5 5-5',
  mask: 'M3 6c4-1.500 10-1.500 14 0 0 5-2 8.500-4.500 8.500-1.500 0-1.500-2-2.500-2s-1 2-2.500 2C5 14.500 3 11 3 6zM6.500 9h1.500M12 9h1.500',
  check: 'M4 10.500 8 14.500 16 5.500',
  file: 'M5 3h6.500L15 6.500V17H5zM11.500 3v3.500H15',
}

/**
 * @param {{ name: keyof typeof PATHS }} props
 */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d=${PATHS[name]} />
  </svg>`
}
