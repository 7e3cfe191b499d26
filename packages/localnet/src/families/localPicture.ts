/** Icon of a local chain for pages: its initial on a disc, as a `data:` URL, so that no page asks a third party for it. */
export function localPicture(displayName: string): string {
  const text = `<text x="16" y="23" font-size="20" text-anchor="middle" fill="#fff">${displayName.charAt(0)}</text>`
  const circle = '<circle cx="16" cy="16" r="16" fill="#345"/>'
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${circle}${text}</svg>`
  return `data:image/svg+xml,${encodeURIComponent(picture)}`
}
