const urlPattern = /\b([a-z][a-z0-9+.-]*):\/\/([^\s"'`<>(){}]+)/gi

/**
 * Reduces every URL in a text to scheme and host, for logs: providers put keys into path, query and user name. File URLs
 * stay whole.
 */
export function scrubUrls(text: string): string {
  return text.replace(urlPattern, (_url, scheme: string, rest: string) => {
    // Paths of this machine contain no keys, and stack traces need them.
    if (scheme.toLowerCase() === 'file') return `${scheme}://${rest}`
    const [authority = ''] = rest.split(/[/?#]/, 1)
    const host = authority.slice(authority.lastIndexOf('@') + 1)
    return host === rest ? `${scheme}://${host}` : `${scheme}://${host}/…`
  })
}
