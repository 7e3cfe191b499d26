// The tests that each row of a request table has: what fits, what does not, and what the description says of it.
import { beforeAll, describe, expect, test } from 'vitest'
import { postPatiently } from '../../../apps/quote-api/test/serviceSupport/callService.ts'
import {
  type Description,
  readDescription,
  requestSchema,
  resolved,
} from '../support/interfaceDescription.ts'
import { bodyOf, ofNewUser, refusalOf } from '../support/quoteRequests.ts'
import { type Field, otherTypes } from '../support/quoteTables.ts'
import type { QuoteWorld } from '../support/quoteWorld.ts'

export function describeFields(
  at: () => QuoteWorld,
  path: '/price' | '/quote',
  fields: readonly Field[],
): void {
  let description: Description
  beforeAll(async () => {
    description = await readDescription(at().urls.publicUrl)
  })
  const asked = (change: object) => ({ ...bodyOf(at(), ofNewUser()), ...change })

  describe.each(fields)('$name', (field) => {
    const { id, name, isRequired = false, fits = {}, unfit = {} } = field

    for (const [what, change] of Object.entries(fits))
      test(`${id}: ${name} ${what} is taken`, async () => {
        const { status, text } = await postPatiently(`${at().urls.publicUrl}${path}`, asked(change))
        expect(status, text).toBe(200)
      })

    test(`${id}: ${name} ${isRequired ? 'is required' : 'may be left out'}`, async () => {
      const body = asked({ [name]: undefined })
      if (isRequired) await expectRefused(at(), { path, body, name })
      else expect((await postPatiently(`${at().urls.publicUrl}${path}`, body)).status).toBe(200)
    })

    const wrong = Object.entries({ ...otherTypes(field), ...unfit })
    test.each(wrong)(`${id}: ${name} %s is refused by name: %o`, async (_what, value) =>
      expectRefused(at(), { path, body: asked({ [name]: value }), name }),
    )

    test(`${id}: ${name} is described as in the table`, () => {
      const { properties = {}, required = [] } = requestSchema(description, 'POST', path)
      const described = resolved(description, properties[name])
      const type = described.type === 'integer' ? 'number' : described.type
      expect([type, required.includes(name)]).toEqual([field.type, isRequired])
      expect([described.pattern, described.enum]).toEqual([field.pattern ?? described.pattern, field.words])
      expect(described.deprecated ?? false).toBe(field.isDeprecated ?? false)
      const { properties: members = {} } = resolved(description, described.items)
      for (const [member, pattern] of Object.entries(field.items ?? {})) {
        expect(Object.keys(members)).toContain(member)
        if (pattern !== undefined) expect(members[member]).toMatchObject({ type: 'string', pattern })
      }
    })
  })
}

/** 400 with `errorData`, and a message of one sentence that names the field and says something of its rule. */
async function expectRefused(
  world: QuoteWorld,
  { path, body, name }: { readonly path: string; readonly body: object; readonly name: string },
): Promise<void> {
  const { status, message, errorData } = await refusalOf(world, path, body)
  expect([status, errorData === undefined]).toEqual([400, false])
  expect(message).toMatch(new RegExp(`\\b${name}\\b`))
  expect(message.replace(name, '').trim().split(' ').length, message).toBeGreaterThan(2)
}
