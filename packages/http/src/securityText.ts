import { ConfigurationError } from '@causeway/core'
import type { HttpApp } from './fastifyTypes.ts'

const path = '/.well-known/security.txt'
const dayMs = 86_400_000
const mailAddress = /^mailto:[\w.!#$&'*+/=?^`{|}~-]+@([a-z0-9-]+\.)+[a-z0-9-]+$/i
/** Printable characters only: text after a line break would become a field of security.txt. */
const httpsPage = /^https:\/\/[\x21-\x7e]+$/

/**
 * Checks the address to which vulnerabilities are reported: `mailto:` with a mail address, or the URL of an https page.
 * @returns undefined where nothing is set
 * @throws ConfigurationError that shows no value
 */
export function parseSecurityContact(
  value: string | undefined,
  setting = 'SECURITY_CONTACT',
): string | undefined {
  if (value === undefined || mailAddress.test(value) || isPage(value)) return value
  throw new ConfigurationError(
    `${setting} must be mailto: and a mail address, or the address of a page that begins with https://.`,
  )
}

function isPage(value: string): boolean {
  if (!httpsPage.test(value) || !URL.canParse(value)) return false
  const { username, password, hostname } = new URL(value)
  return username === '' && password === '' && hostname.includes('.')
}

/** Content of security.txt; it expires 365 days after the service's start. @source RFC 9116 2.5.3, 2.5.5, 3 */
export function renderSecurityText(contact: string, startedAt: Date): string {
  const lastDay = Math.floor(startedAt.getTime() / dayMs) + 365
  return `Contact: ${contact}\nExpires: ${new Date(lastDay * dayMs).toISOString()}\n`
}

export function registerSecurityText(app: HttpApp, contact: string | undefined, startedAt: Date): void {
  if (contact === undefined) return
  const text = renderSecurityText(contact, startedAt)
  app.get(path, { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(text),
  )
}
