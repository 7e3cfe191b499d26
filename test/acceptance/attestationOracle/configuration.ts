// Runtime configuration: every variable of the table, what it does and its default.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hexToBytes } from '@causeway/core'
import { startKmsStandIn } from '@causeway/localnet'
import { describe, expect, test } from 'vitest'
import { spawnOracle } from '../../../apps/oracle/test/support/oracleProcess.ts'
import { ask, logOf, signersOf, withKey } from '../support/attesting.ts'
import type { LateAnswer, RefusedStarts } from '../support/oracleChecks.ts'
import type { Story } from '../support/oracleStory.ts'
import { type OracleWorld, peerKeys } from '../support/oracleWorld.ts'

export function describeConfiguration(
  at: () => OracleWorld,
  story: () => Story,
  late: () => Promise<LateAnswer>,
  refused: () => RefusedStarts,
): void {
  test('O-cfg-01: SIGNING_MODULE is raw-private-key where it is not set', async () => {
    const { open } = at()
    expect(open.process.output()).toContain(`"signer":"${open.signer.address}"`)
    expect(open.process.output()).toContain('The signing key is in the memory of this process')
  })

  test('O-cfg-01, O-service-08: <provider>-kms signs by a key of it; secrets are read from their directory', async () => {
    const [{ privateKey }] = at().network.keys.oracles
    const kms = await startKmsStandIn({ privateKey: hexToBytes(privateKey) })
    const directory = await mkdtemp(join(tmpdir(), 'causeway-vault-'))
    const { API_KEYS, BASE_RPC_URL, SIGNING_MODULE: _module, ...plain } = at().endpoints
    const signing = `SIGNING_MODULE=aws-kms\nAWS_KMS_SIGNER_KEY_ID='${kms.keyId}'\nAWS_KMS_SIGNER_KEY_REGION=eu-central-1`
    await writeFile(join(directory, 'signer'), `${signing}\n`)
    await writeFile(
      join(directory, 'oracle'),
      `API_KEYS=${API_KEYS}\nexport BASE_RPC_URL='${BASE_RPC_URL}'\n`,
    )
    const oracle = spawnOracle({
      // A variable that a template left empty hides nothing.
      ...plain,
      API_KEYS: ' ',
      SECRETS_DIR: directory,
      AWS_ENDPOINT_URL_KMS: kms.url,
      // As the library of AWS finds them: no variables of the oracle.
      AWS_ACCESS_KEY_ID: 'stand-in',
      AWS_SECRET_ACCESS_KEY: 'stand-in',
    })
    try {
      const url = await oracle.listening()
      const { path, body } = story().deposit
      const answer = await ask({ url }, path, body)
      expect([signersOf(at(), path, answer), answer.headers.has('x-ratelimit-limit')]).toEqual(['A', false])
      expect(kms.operations).toContain('Sign')
    } finally {
      await oracle.stop()
      await kms.stop()
      await rm(directory, { recursive: true })
    }
  })

  test('O-cfg-01: another module stops the start', async () => {
    expect(await refused()('port, module and peer')).toMatch(/SIGNING_MODULE .*must be raw-private-key or/)
  })

  describe('the port', () => {
    test('O-cfg-02: is HTTP_PORT before PORT', () => {
      expect(new URL(at().quorum.url).port).not.toBe('2')
    })
    test('O-cfg-02: is PORT where HTTP_PORT is not set', () => {
      expect(new URL(at().open.url).port).toBe(String(at().port))
    })
    test('O-cfg-02: is 3000 where neither is', async () => {
      expect(await refused()('no port')).toMatch(/port 3000\b/)
    })
    test.each(['port, module and peer', 'port and key outside of local'] as const)(
      'O-cfg-02: is a number that a port can be; anything else is refused in words for people: %s',
      async (start) => {
        const output = await refused()(start)
        expect(output).toContain('HTTP_PORT')
        expect(output).not.toMatch(/NaN|expected number|invalid_type/)
      },
    )
  })

  test('O-cfg-03: API_KEYS bypass the limit and authorize force', async () => {
    const { fill } = story()
    for (let count = 0; count < 5; count += 1) {
      const answer = await ask(at().first, fill.path, { ...fill.body, force: true }, withKey)
      expect([answer.status, answer.headers.has('x-ratelimit-limit')]).toEqual([200, false])
    }
  })

  test('O-cfg-03: a key of less than 16 characters stops the start outside of local', async () => {
    const output = await refused()('port and key outside of local')
    expect(output).toMatch(/API_KEYS.*16/s)
    expect(output).not.toContain('fifteen-letters')
  })

  test('O-cfg-04: UNAUTHENTICATED_RATE_LIMIT_MAX is 2 by default', async () => {
    const { headers } = await ask(at().first, '/chains/v1', undefined, {})
    expect(headers.get('x-ratelimit-limit')).toBe('2')
  })

  test('O-cfg-05: UNAUTHENTICATED_RATE_LIMIT_WINDOW_MS is 1000 by default', async () => {
    const { headers } = await ask(at().first, '/chains/v1', undefined, {})
    expect(Number(headers.get('x-ratelimit-reset'))).toBeLessThanOrEqual(1)
  })

  test('O-cfg-06: PEER_REQUEST_TIMEOUT_MS is 10000 by default', async () => {
    const { elapsedMs, signers } = await late()
    expect(signers).toBe('A')
    expect(elapsedMs).toBeGreaterThanOrEqual(9_900)
    expect(elapsedMs).toBeLessThan(20_000)
  })

  test('O-cfg-07: PEERS are called when their signatures are asked for, and only then', async () => {
    const { quorum, peers } = at()
    const { path, body } = story().deposit
    const asked = () => [peers.b.questions.length, peers.c.questions.length]
    const before = asked()
    await ask(quorum, path, body)
    await ask(quorum, path, { ...body, requestPeerSignatures: false })
    expect(asked()).toEqual(before)
    await ask(quorum, path, { ...body, requestPeerSignatures: true })
    expect(asked().every((count, index) => count > (before[index] ?? 0))).toBe(true)
  })

  test('O-cfg-08: ORACLE_SIGNERS are separated by semicolons, and count', async () => {
    const { path, answer } = story().deposit
    expect(signersOf(at(), path, answer)).toBe('AB')
  })

  test('O-cfg-09: ORACLE_SIGNERS_THRESHOLD is 1 by default', async () => {
    const { path, body } = story().deposit
    const { headers } = await ask(at().first, path, { ...body, requestPeerSignatures: true })
    expect(headers.get('x-quorum-required')).toBe('1')
  })

  test('O-cfg-10: ENVIRONMENT selects the files; one without files stops the start', async () => {
    expect(at().first.process.output()).toContain('"environment":"local"')
    expect(await refused()('an unknown environment')).toContain('nowhere.prod')
  })

  test('O-cfg-11: an entry of PEERS is a base URL and a key, joined by |', async () => {
    const { quorum, peers } = at()
    const { path, body } = story().deposit
    await ask(quorum, path, { ...body, requestPeerSignatures: true })
    expect(peers.b.questions.at(-1)).toMatchObject({ path, headers: { 'x-api-key': peerKeys.b } })
    expect(peers.c.questions.at(-1)).toMatchObject({ path, headers: { 'x-api-key': peerKeys.c } })
  })

  test.each([
    ['a key', 'port, module and peer'],
    ['a URL', 'a threshold of no number, and a peer without a URL'],
    ['one key alone', 'a threshold of 1.5, and a peer with two keys'],
  ] as const)('O-cfg-11: an entry without %s stops the start', async (_what, start) => {
    expect(await refused()(start)).toMatch(/PEERS entry 1\b/)
  })

  test('O-cfg-12: pass-through forwards the key of the caller, and none where there is none', async () => {
    const { open, peers } = at()
    const { path, body } = story().deposit
    const log = logOf(open)
    for (const headers of [withKey, {}])
      await ask(open, path, { ...body, requestPeerSignatures: true }, headers)
    const keys = peers.c.questions.slice(-2).map((question) => question.headers['x-api-key'])
    expect(keys).toEqual([withKey['x-api-key'], undefined])
    expect(log.text()).not.toContain(withKey['x-api-key'])
  })
}
