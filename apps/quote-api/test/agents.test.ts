// Goal: an agent with the public MCP server finds out how to call this service, and calls it. Adversaries: a body that
// is only referred to, which that server shows as `unknown`; a member that a tool reads and no answer has.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describedOperations } from '@causeway/localnet'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sharedTestApp } from './fixtures/app.ts'
import { chainA, chainB, marketWithPools, native, recipient } from './fixtures/market.ts'
import {
  agentChart,
  agentRequests,
  agentRow,
  agentWords,
  missingMembers,
  unknownPlaces,
} from './fixtures/relayMcp.ts'

const ask = sharedTestApp({ market: { current: marketWithPools() } })

describe('the interface description', () => {
  test('Q-116: the tool that follows no reference is shown body and success of each main route', async () => {
    const { response } = await ask({ url: '/documentation/json' })
    const operations = new Map(describedOperations(response.body).map((one) => [one.operationId, one]))
    const main = ['price', 'quote', 'quoteV2', 'listChains', 'findCurrencies', 'listTrendingCurrencies']
    for (const id of [...main, 'getStatusV3', 'listRequests']) {
      const { requestBody, responses } = operations.get(id) ?? {}
      const answer = responses?.['200']?.content?.['application/json']?.schema
      const body = requestBody?.content?.['application/json']?.schema
      expect([id, unknownPlaces(answer, 'answer')]).toEqual([id, []])
      if (requestBody !== undefined) expect([id, unknownPlaces(body, 'body')]).toEqual([id, []])
      expect(JSON.stringify([answer, body])).not.toContain('$ref')
    }
  })
})

describe('Q-117: the public MCP server for agents', () => {
  const requests = agentRequests({ origin: chainA, destination: chainB, currency: native })

  test.each(requests)('Q-117: $tool is answered what it reads: $request.url', async ({ request, reads }) => {
    const { response } = await ask(request)
    expect([response.statusCode, missingMembers(response.json(), reads)]).toEqual([200, []])
  })

  test('Q-117: the rows of requests have what its status tool reads', async () => {
    const file = join(import.meta.dirname, '../../../test/recording/answers/quote-api/lives.json')
    const recorded = z
      .array(z.object({ name: z.string(), answer: z.object({ body: z.unknown() }) }))
      .parse(JSON.parse(await readFile(file, 'utf8')))
    const found = recorded.find(({ name }) => name === 'look-up: by id')
    expect(
      missingMembers(
        found?.answer.body,
        agentRow.map((path) => `requests.*.${path}`),
      ),
    ).toEqual([])
    expect(missingMembers({ requests: [{ id: 1 }] }, ['requests.*.status'])).toEqual(['requests.*.status'])
  })

  test('Q-117: is told in words why its request is refused', async () => {
    const quote = requests.find(({ request }) => request.url === '/quote/v2')?.request
    if (quote === undefined) throw new Error('it asks for quotes')
    const refused = [
      { ...quote, payload: { ...quote.payload, amount: '1' } },
      { ...quote, url: '/execute/swap/multi-input', payload: { user: recipient, origins: [] } },
      agentChart(chainA, native),
    ]
    for (const request of refused) {
      const { response } = await ask(request)
      expect(response.statusCode).toBeGreaterThanOrEqual(400)
      // A state that it asks again at would keep its user waiting.
      expect(response.statusCode).toBeLessThan(429)
      expect(agentWords.parse(response.json())).toMatch(/\w+ \w+ \w+/)
    }
  })
})
