// The oracle process with its secrets in a directory, as an agent mounts them, and nothing secret in its
// environment.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callerKey, oracleVariables, spawnOracle } from './support/oracleProcess.ts'

let network: TestNetwork
let secrets: string
beforeAll(async () => {
  network = await startTestNetwork()
  secrets = await mkdtemp(join(tmpdir(), 'causeway-vault-'))
})
afterAll(async () => {
  await network?.stop()
  await rm(secrets, { recursive: true, force: true })
})

test('reads its key, its callers and its endpoints from the secrets directory', async () => {
  const [, second] = network.keys.oracles
  const {
    ECDSA_PRIVATE_KEY: _key,
    // Nor is this one set: a raw key is the default.
    SIGNING_MODULE: _module,
    API_KEYS: callers,
    BASE_RPC_URL: base,
    ...plain
  } = oracleVariables(network)
  await writeFile(join(secrets, 'signer'), `export ECDSA_PRIVATE_KEY='${second.privateKey}'\n`)
  await writeFile(join(secrets, 'oracle'), `API_KEYS=${callers}\nBASE_RPC_URL=${base}\n`)
  // What a template left behind empty hides nothing; what is set wins.
  const variables = { ...plain, ECDSA_PRIVATE_KEY: '', API_KEYS: ' ', UNAUTHENTICATED_RATE_LIMIT_MAX: '1' }
  const oracle = spawnOracle({ ...variables, SECRETS_DIR: secrets })
  try {
    const url = await oracle.listening()
    expect(oracle.output()).toContain(`"signer":"${second.address.toLowerCase()}"`)
    expect(oracle.output()).not.toContain(second.privateKey)
    const ask = (key: string) => fetch(`${url}/chains/v1`, { headers: { 'x-api-key': key } })
    const known = [await ask(callerKey), await ask(callerKey), await ask(callerKey)]
    expect(known.map(({ status }) => status)).toEqual([200, 200, 200])
    const unknown = [await ask('another'), await ask('another')]
    expect(unknown.map(({ status }) => status)).toEqual([200, 429])
    const [response] = known
    expect(await response?.json()).toMatchObject({
      chains: expect.arrayContaining([expect.objectContaining({ id: 'base', ready: true })]),
    })
  } finally {
    await oracle.stop()
  }
})

test('does not start where the secrets are nowhere else, and names what is missing', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'causeway-vault-'))
  const { ECDSA_PRIVATE_KEY: _key, ...plain } = oracleVariables(network)
  const oracle = spawnOracle({ ...plain, SECRETS_DIR: empty })
  expect(await oracle.ended).toBe(1)
  expect(oracle.output()).toContain('ECDSA_PRIVATE_KEY')
  await rm(empty, { recursive: true })
})
