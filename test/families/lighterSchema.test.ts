// Goal: the stand-in of Lighter answers as the published interface says. Method: questions over HTTP, as
// readers put them; each answer is judged by the schema that the OpenAPI document in zklighter-perps has for
// its path and status, with no member beside those it names.
import { lighterBodies, startLighterNode } from '@causeway/localnet/standIns/lighter'
import { expect, onTestFinished, test } from 'vitest'
import document from 'zklighter-perps/openapi.json' with { type: 'json' }
import { z } from 'zod'
import { put, transfer } from './lighterSupport/lighterBed.ts'

const definition = z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() })
const documentSchema = z.object({
  definitions: z.record(z.string(), definition),
  paths: z.record(
    z.string(),
    z.object({
      get: z
        .object({ responses: z.record(z.string(), z.object({ schema: z.object({ $ref: z.string() }) })) })
        .optional(),
    }),
  ),
})
const { definitions, paths } = documentSchema.parse(document)
const closed = Object.fromEntries(
  Object.entries(definitions).map(([name, own]) => [name, { ...own, additionalProperties: false }]),
)

/** Violations of the path's published schema by an answer. */
function problemsOf(path: string, status: number, body: unknown): readonly string[] {
  const published = paths[path]?.get?.responses[String(status)]?.schema
  if (published === undefined) throw new Error(`nothing is published for ${path} with ${status}`)
  const schema = z.fromJSONSchema({ ...published, definitions: closed }, { defaultTarget: 'draft-7' })
  const { error } = schema.safeParse(body)
  return error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? []
}

test('transactions, accounts, the contract and refusals', async () => {
  const node = await startLighterNode()
  onTestFinished(() => node.stop())
  node.setAccount('5', `0x${'aa'.repeat(20)}`)
  node.setAccount('6', '')
  const { waiting, executed, failed } = lighterBodies.otherStatuses.body
  const ids = [3, executed, ...waiting, ...failed].map((status) => put([node], transfer(), { status }))
  const asked = [
    ...['/info', '/', '/api/v1/assetDetails', '/api/v1/account?by=index&value=5'],
    '/api/v1/nextNonce?account_index=5&api_key_index=4',
    ...[`/api/v1/accountTxs?by=account_index&value=462196&limit=10&index=0&auth=9999999999:462196:4:`],
    '/api/v1/transferFeeInfo?account_index=5&to_account_index=6&auth=9999999999:5:4:',
    '/api/v1/account?by=index&value=6',
    ...ids.map((id) => `/api/v1/tx?by=hash&value=${id}`),
    ...['/api/v1/account?by=index&value=7', '/api/v1/tx?by=hash&value=00'],
  ]
  const judged = await Promise.all(
    asked.map(async (path) => {
      const response = await fetch(`${node.url}${path}`)
      const { pathname } = new URL(response.url)
      return [path, response.status, ...problemsOf(pathname, response.status, await response.json())]
    }),
  )
  expect(judged).toEqual(asked.map((path, index) => [path, index < asked.length - 2 ? 200 : 400]))
})

test.each<[string, (text: string) => string]>([
  ['of another name', (text) => text.replace('contract_address', 'contract')],
  ['beside the others', (text) => text.replace('contract_address', 'network":1,"contract_address')],
  ['of another kind', (text) => text.replace(/"0x[^"]*"/, '5')],
])('a member %s is refused', (_what, change) => {
  const text = lighterBodies.info.body(`0x${'ab'.repeat(20)}`)
  expect(problemsOf('/info', 200, JSON.parse(text))).toEqual([])
  expect(problemsOf('/info', 200, JSON.parse(change(text)))).not.toEqual([])
})
