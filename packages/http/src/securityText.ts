import { ConfigurationError } from '@causeway/core'
import type { HttpApp } from './fastifyTypes.ts'

const path = '/.well-known/security.txt'
const dayMs = 86_400_000
const mailAddress = /^mailto:[\w.!#$&'*+/=?^`{|}~-]+@([a-z0-9-]+\.)+[a-z0-9-]+$/i
/** No blank and no end of line: what stands behind one would be a field of the file. */
const page = /^https:\/\/[\x21-\x7e]+$/

/**
 * Reads where finders of a weakness report it: `mailto:` and an address, or a page behind `https`.
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
  if (!page.test(value) || !URL.canParse(value)) return false
  const { username, password, hostname } = new URL(value)
  return username === '' && password === '' && hostname.includes('.')
}

/**
 * The file by which a finder learns whom to tell. It is for a year from the start, to the day: who restarts a service
 * has its settings at hand, and a file that is older is believed no more. @source RFC 9116 2.5.3, 2.5.5, 3
 */
export function securityText(contact: string, startedAt: Date): string {
  const lastDay = Math.floor(startedAt.getTime() / dayMs) + 365
  return `Contact: ${contact}\nExpires: ${new Date(lastDay * dayMs).toISOString()}\n`
}

/** Without a contact there is no such page: nobody is told to write where nobody reads. */
export function registerSecurityText(app: HttpApp, contact: string | undefined, startedAt: Date): void {
  if (contact === undefined) return
  const text = securityText(contact, startedAt)
  app.get(path, { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(text),
  )
}
