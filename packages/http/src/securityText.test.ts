import { ConfigurationError } from '@causeway/core'
import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from '../test/fixtures/httpTestApp.ts'
import { parseSecurityContact, renderSecurityText } from './securityText.ts'

const url = '/.well-known/security.txt'

async function appWith(securityContact?: string) {
  const openApi = { title: 'a', description: 'b', servers: [] }
  const app = await createTestApp({ securityContact, openApi })
  onTestFinished(() => app.close())
  return app
}

test('O-120: tells the contact, for less than a year, as plain text', async () => {
  const before = Date.now()
  const answer = await (await appWith('mailto:security@example.org')).inject({ url })
  expect(answer.statusCode).toBe(200)
  expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
  const [, contact, expires = ''] = /^Contact: (\S+)\nExpires: (\S+)\n$/.exec(answer.body) ?? []
  expect(contact).toBe('mailto:security@example.org')
  const days = (Date.parse(expires) - before) / 86_400_000
  expect(days).toBeGreaterThan(363.9)
  expect(days).toBeLessThanOrEqual(365)
})

test('O-120: says the day and no minute, so that all replicas that start on it say the same', () => {
  const texts = ['2026-11-29T00:00:00.000Z', '2026-11-29T23:59:59.999Z'].map((startedAt) =>
    renderSecurityText('https://example.org/report', new Date(startedAt)),
  )
  const text = 'Contact: https://example.org/report\nExpires: 2027-11-29T00:00:00.000Z\n'
  expect(texts).toEqual([text, text])
})

test('O-120: is not there without a contact, and never in the description', async () => {
  expect((await (await appWith()).inject({ url })).statusCode).toBe(404)
  const description = await (await appWith('mailto:security@example.org')).inject('/documentation/json')
  expect(description.statusCode).toBe(200)
  expect(description.body).not.toContain('security.txt')
})

test.each([
  undefined,
  'mailto:security@example.org',
  'mailto:first.last+causeway@mail.example.org',
  'https://example.org/security',
  'https://example.org:8443/report?to=us#form',
])('O-120: takes %s', (contact) => {
  expect(parseSecurityContact(contact)).toBe(contact)
})

test.each([
  'security@example.org',
  'mailto:',
  'mailto:security',
  'mailto:security@localhost',
  'mailto:security@example.org\nExpires: 2099-01-01T00:00:00Z',
  'mailto:security@example.org ',
  'mailto:a@example.org,b@example.org',
  'https://example.org/a\r\nContact: https://thief.example',
  'https://example.org/a b',
  'https://user:secret@example.org/',
  'https://',
  'https://example',
  'http://example.org/security',
  'ftp://example.org',
  'tel:+1-201-555-0123',
  'javascript:alert(1)',
])('O-120: refuses %j, and does not show it', (contact) => {
  expect(() => parseSecurityContact(contact)).toThrow(ConfigurationError)
  expect(() => parseSecurityContact(contact)).toThrow(/^SECURITY_CONTACT must be/)
  expect(() => parseSecurityContact(contact)).not.toThrow(/example|thief|secret/)
})
