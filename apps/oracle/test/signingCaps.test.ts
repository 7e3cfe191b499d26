// Goal: signing caps as an operator runs them: a process that is killed again and again, what is held, listed
// and released by command, and what the hub settled. Method: `main.ts` as a process over real nodes, with a
// chain file that caps the native coin of one chain at three deposits of an hour.
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { submitExecution } from './support/hubSubmission.ts'
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
let oracle: OracleProcess
const transactions: string[] = []

beforeAll(async () => {
  network = await startTestNetwork()
  directory = await mkdtemp(join(tmpdir(), 'causeway-signing-caps-'))
  await writeCappedConfigs(directory, { [native]: (3n * amount).toString() })
  variables = { ...oracleVariables(network), CONFIG_DIR: directory, STATE_DIR: join(directory, 'state') }
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has users')
  for (let count = 0; count < 5; count++) {
    transactions.push(await deposit(network, 'base', user, { currency: native, amount, id: noOrder }))
  }
  oracle = spawnOracle(variables)
})
afterAll(async () => {
  await oracle?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

async function ask(index: number) {
  const answer = await fetch(`${await oracle.listening()}/attestations/depository-deposits/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
    body: JSON.stringify({ chainId: 'base', transactionId: transactions[index] }),
  })
  const body = Object(await answer.json())
  expect([answer.status, body.messages?.length]).toEqual([200, 1])
  return body
}

async function command(...words: readonly string[]): Promise<string> {
  const ran = spawnOracle({ STATE_DIR: join(directory, 'state') }, ['held', ...words])
  expect(await ran.ended).toBe(0)
  return ran.output().trim()
}

test('an oracle that is killed after every answer signs no more of an hour than one that runs', async () => {
  const answers: boolean[] = []
  for (const index of transactions.keys()) {
    answers.push((await ask(index)).execution !== undefined)
    await oracle.stop()
    oracle = spawnOracle(variables)
  }
  expect(answers).toEqual([true, true, true, false, false])
  expect(await ask(0)).toHaveProperty('execution')
})

test('what is held is listed, and signed once the operator released it; the hub takes it', async () => {
  expect(await ask(3)).toMatchObject({ executionHeld: 'SIGNING_CAP' })
  const listed = (await command('list')).split('\n')
  expect(listed).toEqual([
    expect.stringMatching(
      /^0x[0-9a-f]{64}: deposits 0x[0-9a-f]{64} lets out 100000000000000000 of base 0x0{40} \(cap, /,
    ),
    expect.stringMatching(/deposits/),
  ])
  const { messages } = await ask(3)
  expect(messages[0].signatures).toHaveLength(1)
  for (const line of listed) await command('release', line.slice(0, 66))
  const { execution } = await ask(3)
  expect(execution.signatures).toHaveLength(1)
  expect(await ask(4)).toHaveProperty('execution')
  expect(await command('list')).toBe('Nothing is held.')
})

test('what the hub settled is signed again and counts nothing, by who never signed it', async () => {
  const trio = network.keys.oracles.slice(1, 2).map(({ privateKey }) => privateKey)
  const [other = ''] = trio
  const first = await ask(0)
  const second = spawnOracle({ ...variables, ECDSA_PRIVATE_KEY: other, STATE_DIR: join(directory, 'other') })
  const own = oracle
  try {
    oracle = second
    const { execution } = await ask(0)
    const signatures = [...first.execution.signatures, ...execution.signatures].sort((one, another) =>
      one.oracleSigner < another.oracleSigner ? -1 : 1,
    )
    expect(await submitExecution(network, { ...execution, signatures })).toBe('accepted')
    for (const index of [1, 2]) expect(await ask(index)).toHaveProperty('execution')
    expect(await ask(3)).toHaveProperty('executionHeld')
    await second.stop()
    oracle = spawnOracle({ ...variables, ECDSA_PRIVATE_KEY: other, STATE_DIR: join(directory, 'third') })
    // Full to the brim but for one: a stranger asks for what was settled, and the last one still fits.
    for (const index of [1, 2]) expect(await ask(index)).toHaveProperty('execution')
    expect(await ask(0)).toHaveProperty('execution')
    expect(await ask(3)).toHaveProperty('execution')
    expect(await ask(4)).toHaveProperty('executionHeld')
  } finally {
    await oracle.stop()
    await second.stop()
    oracle = own
  }
})

test('O-93: a state folder that takes nothing is shown while it signs on, and gets everything once it takes it', async () => {
  const folder = join(directory, 'fourth')
  const own = oracle
  oracle = spawnOracle({ ...variables, STATE_DIR: folder })
  try {
    await ask(0)
    const opsUrl = /"opsUrl":"([^"]+)"/.exec(oracle.output())?.[1] ?? ''
    const told = async () => {
      const [ready, metrics] = [await fetch(`${opsUrl}/ready`), await fetch(`${opsUrl}/metrics`)]
      const { checks, reasons } = Object(await ready.json())
      const kept = /^oracle_state_kept(?:\{.*\})? (.*)$/m.exec(await metrics.text())?.[1]
      return [ready.status, checks?.state, reasons?.state, kept]
    }
    expect(await told()).toEqual([200, 'ok', undefined, '1'])
    await rename(folder, `${folder}-before`)
    await writeFile(folder, '')
    expect(await ask(1)).toHaveProperty('execution')
    expect(await told()).toEqual([200, 'failed', 'STATE_NOT_KEPT', '0'])
    await rm(folder)
    expect(await told()).toEqual([200, 'ok', undefined, '1'])
    const counts = await readFile(join(folder, 'signing-caps.jsonl'), 'utf8')
    expect(counts.match(/"key"/g)).toHaveLength(2)
  } finally {
    await oracle.stop()
    oracle = own
  }
})
