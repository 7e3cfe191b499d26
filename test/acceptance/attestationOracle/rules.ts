// Authentication, Events, Errors, Limits and Versioning.
import { describe, expect, test } from 'vitest'
import {
  type Answered,
  ask,
  isSignedBy,
  logOf,
  type SentHeaders,
  stranger,
  withKey,
} from '../support/attesting.ts'
import { readDescription } from '../support/interfaceDescription.ts'
import type { RefusedStarts } from '../support/oracleChecks.ts'
import type { Story } from '../support/oracleStory.ts'
import { type Oracle, type OracleWorld, operatorKey, peerKeys } from '../support/oracleWorld.ts'

/** Statuses of so many requests, one after the other. */
async function statusesOf(count: number, send: () => Promise<Answered>): Promise<readonly number[]> {
  const statuses: number[] = []
  for (let index = 0; index < count; index += 1) statuses.push((await send()).status)
  return statuses
}

export function describeAuthentication(at: () => OracleWorld, story: () => Story): void {
  test.each<[string, Readonly<Record<string, string>>]>([
    ['no key', {}],
    ['a key that nobody has', { 'x-api-key': 'nobody has it' }],
    ['a name of objects', { 'x-api-key': '__proto__' }],
  ])('O-auth-01: requests with %s are served, and limited', async (_which, headers) => {
    const { path, body } = story().deposit
    const sent = { ...headers, ...stranger() }
    const statuses = await statusesOf(3, async () => {
      const answer = await ask(at().first, path, body, sent)
      expect(answer.headers.get('x-ratelimit-limit')).toBe('2')
      return answer
    })
    expect(statuses).toEqual([200, 200, 429])
  })

  test('O-auth-01: a valid key bypasses the limit', async () => {
    for (let count = 0; count < 6; count += 1) {
      const answer = await ask(at().first, '/chains/v1', undefined, withKey)
      expect([answer.status, answer.headers.has('x-ratelimit-limit')]).toEqual([200, false])
    }
  })

  test('O-auth-02: API_KEYS close neither /chains/v1 nor an attestation', async () => {
    const { path, body } = story().deposit
    const answers = [
      await ask(at().first, path, body, stranger()),
      await ask(at().first, '/chains/v1', undefined, stranger()),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })

  test.each(['fill', 'refund'] as const)('O-auth-03: force on a %s requires a valid key', async (name) => {
    const { path, body } = story()[name]
    for (const headers of [{}, { 'x-api-key': 'nobody has it' }]) {
      const answer = await ask(at().first, path, { ...body, force: true }, { ...headers, ...stranger() })
      expect(answer.status).toBe(401)
    }
    expect((await ask(at().first, path, { ...body, force: true }, withKey)).status).toBe(200)
  })

  test('O-auth-04: the label of a key is kept with what it did', async () => {
    const log = logOf(at().first)
    const { path, body } = story().fill
    await ask(at().first, path, { ...body, force: true })
    await log.has('force_answered', { keyLabel: 'operator' })
    expect(log.text()).not.toContain(operatorKey)
  })

  test('O-auth-05: peers are called with their own key, or with the key of the caller under pass-through', async () => {
    const { quorum, open, peers } = at()
    const { path, body } = story().deposit
    const called = async (oracle: Oracle) => {
      await ask(oracle, path, { ...body, requestPeerSignatures: true })
      return [peers.b, peers.c].map(({ questions }) => questions.at(-1)?.headers['x-api-key'])
    }
    expect(await called(quorum)).toEqual([peerKeys.b, peerKeys.c])
    expect(await called(open)).toEqual([peerKeys.b, operatorKey])
  })

  test('O-auth-06: an instance signs with one signer', async () => {
    const { path, body } = story().deposit
    for (const oracle of [at().first, at().quorum, at().open])
      expect(isSignedBy(at(), path, await ask(oracle, path, body), oracle)).toBe(true)
  })
}

export function describeEvents(at: () => OracleWorld): void {
  test('O-events-01: nothing is emitted: timeouts, mismatches and shortfalls are warnings in the log', () => {
    const output = at().quorum.process.output() + at().open.process.output()
    for (const event of ['peer_timeout', 'peer_mismatch', 'quorum_shortfall'])
      expect(output).toMatch(new RegExp(`"level":40,[^\\n]*"event":"${event}"`))
  })
}

export function describeErrors(at: () => OracleWorld, refused: () => RefusedStarts): void {
  test('O-errors-01: over the limit the answer is 429 with rate-limit and retry-after headers', async () => {
    const from = stranger()
    const ask429 = () => ask(at().first, '/chains/v1', undefined, from)
    expect(await statusesOf(2, ask429)).toEqual([200, 200])
    const answer = await ask429()
    expect(answer.status).toBe(429)
    const header = (name: string) => Number(answer.headers.get(name))
    expect([header('x-ratelimit-limit'), header('x-ratelimit-remaining')]).toEqual([2, 0])
    expect(header('x-ratelimit-reset')).toBeLessThanOrEqual(1)
    expect(header('retry-after')).toBe(1)
    expect(answer.body).toMatchObject({ errorCode: 'RATE_LIMITED', message: expect.any(String) })
  })

  describe('startup failures', () => {
    test.each([
      'a threshold of no number, and a peer without a URL',
      'a threshold of 1.5, and a peer with two keys',
      'a threshold of 0',
    ] as const)('O-errors-02: %s: the threshold is no integer of at least 1', async (start) => {
      expect(await refused()(start)).toMatch(/ORACLE_SIGNERS_THRESHOLD .*must be .*at least 1\b/)
    })

    test('O-errors-02: a threshold above the unique entries of the list', async () => {
      expect(await refused()('more than the unique entries')).toContain('ORACLE_SIGNERS_THRESHOLD is 3')
    })

    test.each(['no address', 'the zero address', 'an empty entry', 'a wrong checksum'] as const)(
      'O-errors-02: a list with %s, which is named by its place',
      async (start) => {
        expect(await refused()(start)).toMatch(/ORACLE_SIGNERS entry 2\b/)
      },
    )

    test('O-errors-02: a list with the local signer missing', async () => {
      expect(await refused()('the local signer missing')).toMatch(/ORACLE_SIGNERS does not name .*own signer/)
    })

    test('O-errors-02: a list of peers with the oracle itself', async () => {
      expect(await refused()('the oracle itself as peer')).toMatch(/PEERS entry 1\b/)
    })
  })
}

export function describeLimits(at: () => OracleWorld, refused: () => RefusedStarts): void {
  const chains =
    (from: SentHeaders, oracle = at().first) =>
    () =>
      ask(oracle, '/chains/v1', undefined, from)

  test('O-limits-01: two requests per window without a key, and two in the next', async () => {
    const from = stranger()
    expect(await statusesOf(4, chains(from))).toEqual([200, 200, 429, 429])
    await new Promise((resolve) => setTimeout(resolve, 1_050))
    expect(await statusesOf(3, chains(from))).toEqual([200, 200, 429])
  })

  test('O-limits-01: the window is of one client address, and of one process', async () => {
    const from = stranger()
    expect(await statusesOf(3, chains(from))).toEqual([200, 200, 429])
    expect(await statusesOf(1, chains(stranger()))).toEqual([200])
    expect(await statusesOf(1, chains(from, at().quorum))).toEqual([200])
  })

  test.each([
    '/',
    '/documentation',
    '/documentation/json',
    '/documentation/static/swagger-ui.css',
    '/lives/v1',
    '/lives/ready/v1',
  ])('O-limits-02: %s is exempt', async (path) => {
    const from = stranger()
    const statuses = await statusesOf(4, () => ask(at().first, path, undefined, from))
    expect(statuses.every((status) => status < 400)).toBe(true)
  })

  test('O-limits-02: what only looks like an exempt route is limited', async () => {
    const paths = ['/livesX', '/documentationX', '/lives', '/chains/v1']
    const from = stranger()
    const statuses: number[] = []
    for (const path of paths) statuses.push((await ask(at().first, path, undefined, from)).status)
    expect(statuses).toEqual([404, 404, 429, 429])
  })

  test('O-limits-03: valid keys bypass the limit', async () => {
    for (let count = 0; count < 6; count += 1) {
      const { status } = await ask(at().first, '/chains/v1', undefined, withKey)
      expect(status).toBe(200)
    }
  })

  test('O-limits-05: the threshold is at most the number of unique listed signers', async () => {
    expect(await refused()('more than the unique entries')).toContain(
      'ORACLE_SIGNERS names 2 distinct signers',
    )
  })
}

export function describeVersioning(at: () => OracleWorld): void {
  test('O-version-01: every route carries a version', async () => {
    const { paths } = await readDescription(at().first.url)
    const unversioned = Object.keys(paths).filter((path) => !/\/v[0-9]+$/.test(path))
    expect(unversioned).toEqual([])
    for (const path of ['/lives', '/chains', '/attestations/depository-deposits'])
      expect((await ask(at().first, path, path.startsWith('/attestations') ? {} : undefined)).status).toBe(
        404,
      )
  })
}
