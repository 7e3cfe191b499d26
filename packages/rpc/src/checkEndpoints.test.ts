import { expect, test } from 'vitest'
import { askEnough, localProblems } from './checkEndpoints.ts'
import type { EndpointSource } from './quorumClient.ts'

/** A chain with two URLs of one host and one of another, of which two hosts must agree. */
function chainOf(urls: { readonly sameHost: 'answers' | 'silent'; readonly other: 'answers' | 'silent' }) {
  const endpoints = [
    { alias: 'a1', voice: 'a', is: urls.sameHost },
    { alias: 'a2', voice: 'a', is: urls.sameHost },
    { alias: 'b1', voice: 'b', is: urls.other },
  ]
  return {
    chainId: 'base',
    threshold: 2,
    askEach: <Said>(ask: (view: EndpointSource, signal: AbortSignal) => Promise<Said>, signal: AbortSignal) =>
      Promise.all(
        endpoints.map(async ({ alias, voice, is }) => ({
          alias,
          voice,
          said: is === 'silent' ? undefined : await ask({ alias }, signal),
        })),
      ),
  }
}

const signal = AbortSignal.timeout(10_000)
const ask = async () => 'yes'
const noProblem = () => undefined

test('O-32: two URLs of one host are not enough where two hosts must answer', async () => {
  const oneHost = chainOf({ sameHost: 'answers', other: 'silent' })
  await expect(askEnough(oneHost, ask, signal)).rejects.toMatchObject({ code: 'RPC_HTTP_ERROR' })
  const both = chainOf({ sameHost: 'answers', other: 'answers' })
  expect(await askEnough(both, ask, signal)).toHaveLength(3)
})

test('O-32: two silent URLs of one host could not agree on a chain that two hosts must show', async () => {
  const oneSilent = chainOf({ sameHost: 'silent', other: 'answers' })
  expect(localProblems(oneSilent, await oneSilent.askEach(ask, signal), noProblem)).toEqual([])
  const bothSilent = chainOf({ sameHost: 'silent', other: 'silent' })
  const each = await bothSilent.askEach(ask, signal)
  expect(() => localProblems(bothSilent, each, noProblem)).toThrow('cannot be read')
})
