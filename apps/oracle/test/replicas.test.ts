// Goal: an operator knows what two processes of one oracle share without a database: the key, and so every byte they
// sign, and nothing else.
// Risk if he does not know it: a stranger gets two limits, a thief gets two caps, and one process signs for a chain
// that the other has halted. Method: `main.ts` twice with one key and folders of their own, as behind a load balancer,
// over real nodes; each cap holds three deposits of an hour.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freeLoopbackPort, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chainsResponseSchema } from '../src/http/app.ts'
import {
  callerKey,
  type OracleProcess,
  oracleVariables,
  spawnOracle,
  writeCappedConfigs,
} from './support/oracleProcess.ts'
import { deposit, native, noOrder } from './support/protocolActors.ts'

const amount = parseEther('0.1')
let network: TestNetwork
let directory: string
let variables: Record<string, string>
let replicas: readonly OracleProcess[]
let urls: readonly string[]
const transactions: string[] = []

beforeAll(async () => {
  network = await startTestNetwork()
  directory = await mkdtemp(join(tmpdir(), 'causeway-oracle-replicas-'))
  await writeCappedConfigs(directory, { [native]: (3n * amount).toString() })
  variables = {
    ...oracleVariables(network),
    CONFIG_DIR: directory,
    UNAUTHENTICATED_RATE_LIMIT_MAX: '2',
    UNAUTHENTICATED_RATE_LIMIT_WINDOW_MS: '60000',
  }
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has users')
  for (let count = 0; count < 6; count++) {
    transactions.push(await deposit(network, 'base', user, { currency: native, amount, id: noOrder }))
  }
  // One of them halted a chain before: here by a marker that nobody can read, which halts as well.
  await mkdir(folderOf('two'))
  await writeFile(join(folderOf('two'), 'optimism.halted.json'), 'cut')
  replicas = [spawnOracle(stateIn('one')), spawnOracle(stateIn('two'))]
  urls = await Promise.all(replicas.map((replica) => replica.listening()))
})
afterAll(async () => {
  await Promise.all((replicas ?? []).map((replica) => replica.stop()))
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

const folderOf = (name: string) => join(directory, name)
const stateIn = (name: string) => ({ ...variables, STATE_DIR: folderOf(name) })

async function ask(
  place: number,
  index: number,
  headers: Record<string, string> = { 'x-api-key': callerKey },
) {
  const answer = await fetch(`${urls[place]}/attestations/depository-deposits/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ chainId: 'base', transactionId: transactions[index] }),
  })
  return { status: answer.status, body: Object(await answer.json()) }
}

test('O-20: they sign the same bytes, so that a caller may ask either', async () => {
  const [one, two] = [await ask(0, 0), await ask(1, 0)]
  expect(one.status).toBe(200)
  expect(two).toEqual(one)
})

test('O-20: each has a cap of its own: together they sign twice of it', async () => {
  const executions = async (place: number, indexes: readonly number[]) => {
    const signed: boolean[] = []
    for (const index of indexes) signed.push((await ask(place, index)).body.execution !== undefined)
    return signed
  }
  expect(await executions(0, [1, 2, 3])).toEqual([true, true, false])
  expect(await executions(1, [3, 4, 5])).toEqual([true, true, false])
})

test('O-20: each has limits of its own: whoever asks both has two', async () => {
  const statuses = async (place: number) => {
    const seen: number[] = []
    for (let count = 0; count < 3; count++) seen.push((await ask(place, 0, {})).status)
    return seen
  }
  expect([await statuses(0), await statuses(1)]).toEqual([
    [200, 200, 429],
    [200, 200, 429],
  ])
})

test('O-20: a chain that one has halted is signed for by the other, until the operator halts both', async () => {
  const haltedAt = async (place: number) => {
    const answer = await fetch(`${urls[place]}/chains/v1`, { headers: { 'x-api-key': callerKey } })
    const { chains } = chainsResponseSchema.parse(await answer.json())
    return chains.filter(({ halted }) => halted).map(({ id }) => id)
  }
  expect([await haltedAt(0), await haltedAt(1)]).toEqual([[], ['optimism']])
})

test('O-20: two with one folder do not run: the second one does not start', async () => {
  const third = spawnOracle(stateIn('one'))
  expect(await third.ended).toBe(1)
  expect(third.output()).toContain('STATE_DIR')
})

test('O-20: with its share of each cap, each signs a part, and together they sign no more than the whole', async () => {
  const share = (name: string) => ({ ...stateIn(name), CAPS_SHARE: '1/2' })
  const shared = [spawnOracle(share('three')), spawnOracle(share('four'))]
  const before = urls
  try {
    urls = await Promise.all(shared.map((replica) => replica.listening()))
    const signed = async (place: number) => {
      const answers: boolean[] = []
      for (const index of [0, 1, 2]) answers.push((await ask(place, index)).body.execution !== undefined)
      return answers
    }
    expect([await signed(0), await signed(1)]).toEqual([
      [true, false, false],
      [true, false, false],
    ])
  } finally {
    urls = before
    await Promise.all(shared.map((replica) => replica.stop()))
  }
})

test('O-20: a share that is nothing of some cap stops the start', async () => {
  await writeCappedConfigs(directory, { [native]: '3' })
  const refused = spawnOracle({ ...stateIn('five'), CAPS_SHARE: '1/4' })
  expect(await refused.ended).toBe(1)
  expect(refused.output()).toMatch(/CAPS_SHARE: the cap of 0x0{40} on base/)
})

test('P-3: one that has the other as a peer names it, in its log and its metrics', async () => {
  const opsPort = await freeLoopbackPort()
  const asking = spawnOracle({
    ...stateIn('three'),
    PEERS: `${urls[0]}|pass-through`,
    OPS_PORT: String(opsPort),
  })
  try {
    const answer = await fetch(`${await asking.listening()}/attestations/depository-deposits/v1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
      body: JSON.stringify({ chainId: 'base', transactionId: transactions[0], requestPeerSignatures: true }),
    })
    expect([answer.status, answer.headers.get('x-quorum-matched')]).toEqual([200, '1'])
    const { host } = new URL(urls[0] ?? '')
    await expect.poll(() => asking.output()).toContain(`"event":"peer_shares_signer","peer":"${host}"`)
    const metrics = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
    expect(metrics).toMatch(
      new RegExp(
        `^oracle_peer_request_duration_seconds_count\\{.*peer="${host}",outcome="own_signer".*\\} 1$`,
        'm',
      ),
    )
  } finally {
    await asking.stop()
  }
})
