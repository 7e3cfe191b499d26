// Part of the page at /documentation: loads Swagger UI as soon as somebody opens an operation of the list.
//
// Swagger UI keeps a phone or a small machine busy for a second or two before it shows anything, and whoever looks an
// operation up may not need it at all. So the page is a list first; an address that names an operation opens it at once.

{
  const own = document.currentScript
  const list = document.getElementById('operation-list')
  const told = document.getElementById('opening')
  const { scripts = '', style = '' } = own === null ? {} : own.dataset

  /** Fulfilled when it has run, or applies. */
  const added = (element) =>
    new Promise((resolve, reject) => {
      element.addEventListener('load', resolve)
      element.addEventListener('error', () => reject(new Error('a file of the page does not come')))
      // Before the page's own style, which wins where both say something.
      document.head.prepend(element)
    })

  /** One after the other: each stands on those before it. */
  async function loadSwaggerUi() {
    const sheet = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: style })
    const styled = added(sheet)
    for (const src of scripts.split(' '))
      await added(Object.assign(document.createElement('script'), { src }))
    await styled
    leaveWhenListed()
    // The last script means to begin when the page has loaded, which may be long ago.
    const begin = window.onload
    window.onload = null
    if (typeof begin === 'function') begin.call(window, new Event('load'))
  }

  const search = document.getElementById('search')
  if (search !== null) {
    search.hidden = false
    search.addEventListener('input', showFound)
    // The search stays when the list goes, for what comes in its place.
    document.body.prepend(search)
  }

  /** Shows what has all the words in its method, path, summary or tag. Swagger UI draws its own anew. */
  function showFound() {
    const words = (search?.querySelector('input')?.value ?? '').toLowerCase().split(/\s+/)
    for (const group of document.querySelectorAll(
      '#operation-list section, #swagger-ui .opblock-tag-section',
    )) {
      const tag = group.querySelector('h2, h3')?.textContent ?? ''
      const operations = [...group.querySelectorAll('li, .opblock')]
      const found = operations.filter((operation) => {
        const summary = operation.querySelector('a, .opblock-summary')?.textContent ?? ''
        const text = `${tag} ${summary}`.replaceAll('\u200b', '').toLowerCase()
        operation.hidden = !words.every((word) => text.includes(word))
        return !operation.hidden
      })
      group.hidden = operations.length > 0 && found.length === 0
    }
  }

  /** The list stays until there is more to see. */
  function leaveWhenListed() {
    const watched = new MutationObserver(() => {
      if (document.querySelector('#swagger-ui .opblock') === null) return
      watched.disconnect()
      list?.remove()
      new MutationObserver(showFound).observe(document.body, { childList: true, subtree: true })
      showFound()
    })
    watched.observe(document.body, { childList: true, subtree: true })
  }

  let isOpening = false

  async function openOperation() {
    if (isOpening || scripts === '' || !location.hash.startsWith('#/')) return
    isOpening = true
    if (told !== null) told.textContent = 'Opening…'
    try {
      await loadSwaggerUi()
    } catch {
      isOpening = false
      if (told !== null)
        told.textContent = 'The page could not be loaded. Reload it, or read the description itself.'
    }
  }

  addEventListener('hashchange', openOperation)
  openOperation()
}
