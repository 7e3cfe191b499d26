// Runs in the browser on the page at /documentation: loads Swagger UI when a reader opens an operation of the list.
//
// Swagger UI keeps a slow machine busy for a second or two before it shows anything, and many readers only need the
// list. So the page starts as a list. An address that names an operation (`#/tag/operationId`) opens Swagger UI directly.

{
  // `referencePage.ts` writes the addresses to load into data attributes of this script's element.
  const ownScript = document.currentScript
  const list = document.getElementById('operation-list')
  const notice = document.getElementById('opening')
  const { scripts = '', style = '' } = ownScript === null ? {} : ownScript.dataset

  /** Adds a script or style sheet. Fulfilled when the script has run or the style applies. */
  const addToHead = (element) =>
    new Promise((resolve, reject) => {
      element.addEventListener('load', resolve)
      element.addEventListener('error', () => reject(new Error('a file of the page does not come')))
      // Prepended, so that the page's own style comes later and wins.
      document.head.prepend(element)
    })

  /** Loads the scripts one after the other, because each needs those before it. */
  async function loadSwaggerUi() {
    const sheet = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: style })
    const styleApplied = addToHead(sheet)
    for (const src of scripts.split(' '))
      await addToHead(Object.assign(document.createElement('script'), { src }))
    await styleApplied
    removeListWhenReplaced()
    // The last script sets `window.onload` to start Swagger UI, but the page has loaded already. So call it here.
    const startSwaggerUi = window.onload
    window.onload = null
    if (typeof startSwaggerUi === 'function') startSwaggerUi.call(window, new Event('load'))
  }

  const search = document.getElementById('search')
  if (search !== null) {
    search.hidden = false
    search.addEventListener('input', applySearch)
    // The search field stays when Swagger UI replaces the list, and searches there too.
    document.body.prepend(search)
  }

  /** Hides operations that lack one of the words in method, path, summary and tag, and groups without a match. */
  function applySearch() {
    const words = (search?.querySelector('input')?.value ?? '').toLowerCase().split(/\s+/)
    for (const group of document.querySelectorAll(
      '#operation-list section, #swagger-ui .opblock-tag-section',
    )) {
      const tag = group.querySelector('h2, h3')?.textContent ?? ''
      const operations = [...group.querySelectorAll('li, .opblock')]
      const matching = operations.filter((operation) => {
        const summary = operation.querySelector('a, .opblock-summary')?.textContent ?? ''
        const text = `${tag} ${summary}`.replaceAll('\u200b', '').toLowerCase()
        operation.hidden = !words.every((word) => text.includes(word))
        return !operation.hidden
      })
      group.hidden = operations.length > 0 && matching.length === 0
    }
  }

  /** Removes the list once Swagger UI shows its operations. From then on each redraw of Swagger UI is searched again. */
  function removeListWhenReplaced() {
    const observer = new MutationObserver(() => {
      if (document.querySelector('#swagger-ui .opblock') === null) return
      observer.disconnect()
      list?.remove()
      new MutationObserver(applySearch).observe(document.body, { childList: true, subtree: true })
      applySearch()
    })
    observer.observe(document.body, { childList: true, subtree: true })
  }

  let isOpening = false

  async function openOperation() {
    if (isOpening || scripts === '' || !location.hash.startsWith('#/')) return
    isOpening = true
    if (notice !== null) notice.textContent = 'Opening…'
    try {
      await loadSwaggerUi()
    } catch {
      isOpening = false
      if (notice !== null)
        notice.textContent = 'The page could not be loaded. Reload it, or read the description itself.'
    }
  }

  addEventListener('hashchange', openOperation)
  openOperation()
}
