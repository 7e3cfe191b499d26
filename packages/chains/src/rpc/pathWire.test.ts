// Goal: calls of a node that is asked by paths arrive in their order, what it refuses is told from what it says, and a head
// that is asked for first is never newer than the rest. Who gains by breaking it: a payment that is taken for lost because
// it was looked for before the block that has it.
import { describe, expect, test } from 'vitest'
import { EndpointFailure } from './endpointFailure.ts'
import { askPaths } from './pathWire.ts'

const call = (path: string, body?: object) => ({ method: path, params: body === undefined ? [] : [body] })

describe('calls by paths', () => {
  test('are answered in their order, each by its own path', async () => {
    const asked: string[] = []
    const answers = await askPaths([call('/a', { x: 1 }), call('/b'), call('/c')], 'n', async (request) => {
      asked.push(`${request.method} ${request.path} ${JSON.stringify(request.body)}`)
      return { status: 200, text: JSON.stringify({ path: request.path }) }
    })
    expect(answers).toEqual(['/a', '/b', '/c'].map((path) => ({ ok: true, result: { path } })))
    expect(asked).toEqual(['POST /a {"x":1}', 'POST /b {}', 'POST /c {}'])
  })

  test('wait for the first one, and leave together then', async () => {
    const asked: string[] = []
    let release: (() => void) | undefined
    const done = askPaths([call('/head'), call('/one'), call('/two')], 'n', async ({ path }) => {
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
    const refused = await askPaths([call('/a')], 'n', async () => ({
      status: 200,
      text: JSON.stringify(refusal),
    }))
    expect(refused).toEqual([{ ok: false, code: -32_000, message: refusal.Error }])
    const garbled = askPaths([call('/a')], 'n', async () => ({ status: 200, text: '<html>' }))
    await expect(garbled).rejects.toThrow(EndpointFailure)
    expect(await askPaths([], 'n', async () => ({ status: 500, text: '' }))).toEqual([])
  })
})
