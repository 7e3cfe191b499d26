import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EndpointFailure } from './endpointFailure.ts'
import { askPaths, encodeCalls, parseAnswers } from './wire.ts'

const alias = 'node#1'
const parse = (text: string, count = 1, firstId = 7) => parseAnswers(text, { alias, count, firstId })

function reasonOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof EndpointFailure) return error.reason
    throw error
  }
  return 'accepted'
}

describe('parseAnswers', () => {
  test('matches the members of a batch by id, in any order', () => {
    const members = fc.uniqueArray(fc.jsonValue(), { minLength: 2, maxLength: 8 })
    fc.assert(
      fc.property(members, fc.nat(1_000), fc.func(fc.nat()), (results, firstId, rank) => {
        const answers = results.map((result, index) => ({ jsonrpc: '2.0', id: firstId + index, result }))
        const shuffled = answers.toSorted((a, b) => rank(a.id) - rank(b.id))
        const parsed = parse(JSON.stringify(shuffled), results.length, firstId)
        const expected: unknown = JSON.parse(JSON.stringify(results))
        expect(parsed.map((answer) => answer.ok && answer.result)).toEqual(expected)
      }),
    )
  })

  test('hands a refusal of the node on as a value', () => {
    const text =
      '[{"id":8,"result":null},{"id":7,"error":{"code":3,"message":"execution reverted","data":"0x08"}}]'
    expect(parse(text, 2)).toEqual([
      { ok: false, code: 3, message: 'execution reverted', data: '0x08' },
      { ok: true, result: null },
    ])
  })

  test.each([
    ['half an answer', '{"jsonrpc":"2.0","id":7,"res', 1, 'not_json'],
    ['a page', '<html>502</html>', 1, 'not_json'],
    ['nothing', '', 1, 'not_json'],
    ['another id', '{"id":8,"result":"0x1"}', 1, 'bad_answer'],
    ['an id of another type', '{"id":"7","result":"0x1"}', 1, 'bad_answer'],
    ['no id', '{"result":"0x1"}', 1, 'bad_answer'],
    ['neither result nor error', '{"id":7}', 1, 'bad_answer'],
    ['an error without a code', '{"id":7,"error":{"message":"no"}}', 1, 'bad_answer'],
    ['an error beside a result', '{"id":7,"result":"0x1","error":"no"}', 1, 'bad_answer'],
    ['a list for one call', '[{"id":7,"result":"0x1"}]', 1, 'bad_answer'],
    ['null', 'null', 1, 'bad_answer'],
    ['a missing member', '[{"id":7,"result":"0x1"}]', 2, 'bad_answer'],
    ['a repeated member', '[{"id":7,"result":"0x1"},{"id":7,"result":"0x1"}]', 2, 'bad_answer'],
    ['a member too many', '[{"id":7,"result":1},{"id":8,"result":1},{"id":9,"result":1}]', 2, 'bad_answer'],
    ['one object for a batch', '{"id":7,"result":"0x1"}', 2, 'bad_answer'],
    [
      'a batch refused for its rate',
      '{"id":null,"error":{"code":429,"message":"slow down"}}',
      2,
      'rate_limited',
    ],
    [
      'a call refused for its rate',
      '{"id":7,"error":{"code":-32005,"message":"Too Many Requests"}}',
      1,
      'rate_limited',
    ],
  ])('refuses %s', (_name, text, count, reason) => {
    expect(reasonOf(() => parse(text, count))).toBe(reason)
  })

  const refused = (code: number, message: string, id: number | null = 7) =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })

  test.each([
    [429, 'too many requests', 7],
    [-32_005, 'rate limited, try again in 4ms', 7],
    [-32_005, 'method request rate exceed', 7],
    [-32_007, '20/second request limit reached - reduce calls per second', 7],
    [-32_016, 'Your IP has exceeded its requests per second capacity.', null],
  ])('F-61: %i %s is a limit of the rate', (code, message, id) => {
    expect(reasonOf(() => parse(refused(code, message, id)))).toBe('rate_limited')
  })

  test.each([
    [-32_007, 'Slot 104369 was skipped, or missing due to ledger jump to recent snapshot'],
    [-32_005, 'Node is behind by 42 slots'],
    [-32_005, 'batch item count exceeded'],
    [-32_000, 'execution reverted: rate limit exceeded'],
  ])('F-61: %i %s is none', (code, message) => {
    expect(parse(refused(code, message))).toEqual([{ ok: false, code, message }])
  })

  test.each([
    [-32_603, 'http request handling timeout'],
    [-32_014, 'maximum 10 calls in 1 batch'],
  ])('F-61: %i %s without an id is of the one call that was sent', (code, message) => {
    expect(parse(refused(code, message, null))).toEqual([{ ok: false, code, message }])
    expect(reasonOf(() => parse(refused(code, message, null), 2))).toBe('bad_answer')
    expect(reasonOf(() => parse(refused(code, message, 8)))).toBe('bad_answer')
  })

  test('leaves a log query with too many results to the caller', () => {
    const text = '{"id":7,"error":{"code":-32005,"message":"query returned more than 10000 results"}}'
    expect(parse(text)).toMatchObject([{ ok: false, code: -32_005 }])
  })

  test('never throws anything but a typed failure', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), fc.integer({ min: 1, max: 3 }), (text, count) => {
        reasonOf(() => parse(text, count))
      }),
    )
  })
})

test('one call is sent without an array, several as one', () => {
  const call = { method: 'eth_chainId', params: [] }
  expect(JSON.parse(encodeCalls([call], 7))).toEqual({ jsonrpc: '2.0', id: 7, ...call })
  expect(JSON.parse(encodeCalls([call, call], 7))).toMatchObject([{ id: 7 }, { id: 8 }])
})

const pathCall = (path: string, body?: object) => ({ method: path, params: body === undefined ? [] : [body] })

// A head that is asked for first is never newer than the rest: else a payment is taken for lost that was looked for before
// the block that has it.
describe('calls by paths', () => {
  test('are answered in their order, each by its own path', async () => {
    const asked: string[] = []
    const answers = await askPaths(
      [pathCall('/a', { x: 1 }), pathCall('/b'), pathCall('/c')],
      'n',
      async (request) => {
        asked.push(`${request.method} ${request.path} ${JSON.stringify(request.body)}`)
        return { status: 200, text: JSON.stringify({ path: request.path }) }
      },
    )
    expect(answers).toEqual(['/a', '/b', '/c'].map((path) => ({ ok: true, result: { path } })))
    expect(asked).toEqual(['POST /a {"x":1}', 'GET /b undefined', 'GET /c undefined'])
  })

  test('wait for the first one, and leave together then', async () => {
    const asked: string[] = []
    let release: (() => void) | undefined
    const done = askPaths([pathCall('/head'), pathCall('/one'), pathCall('/two')], 'n', async ({ path }) => {
      asked.push(path)
      if (path === '/head')
        await new Promise<void>((resolve) => {
          release = resolve
        })
      return { status: 200, text: '{}' }
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(asked).toEqual(['/head'])
    release?.()
    await done
    expect(asked).toEqual(['/head', '/one', '/two'])
  })

  test('that a node refuses are refusals, and what is no JSON is a failure of the endpoint', async () => {
    const refusal = { Error: 'class java.lang.NullPointerException : null' }
    const refused = await askPaths([pathCall('/a')], 'n', async () => ({
      status: 200,
      text: JSON.stringify(refusal),
    }))
    expect(refused).toEqual([{ ok: false, code: -32_000, message: refusal.Error }])
    const garbled = askPaths([pathCall('/a')], 'n', async () => ({ status: 200, text: '<html>' }))
    await expect(garbled).rejects.toThrow(EndpointFailure)
    expect(await askPaths([], 'n', async () => ({ status: 500, text: '' }))).toEqual([])
  })
})
