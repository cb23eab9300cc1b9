/* The search field of each page. */
globalThis.search = new globalThis.PagefindUI({
  element: '#search',
  showSubResults: true,
  showImages: false,
  resetStyles: false,
  translations: { placeholder: 'Search all pages' },
})
/* "/" leads to it, unless somebody writes. */
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.matches('input, textarea')) return
  event.preventDefault()
  document.querySelector('#search input')?.focus()
})
/* Where the list of pages stands above the page, it is closed. */
if (matchMedia('(width < 56rem)').matches) document.querySelector('nav details').open = false
