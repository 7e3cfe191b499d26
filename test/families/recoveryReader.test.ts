// Goal: the promise of a solver and the balance that goes back are read at one final height by agreement: a
// minority that invents or hides either changes nothing, and what only the newest block shows is asked for
// again. Method: mapping and ledger of the local hub on a real node, behind proxies that lie.
import { encodeMintAction, type Hex, sha256TextHex } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import {
  type FaultProxy,
  genericMappingAbi,
  hubOracleAbi,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { concatHex, encodeAbiParameters, encodeFunctionData, toHex } from 'viem'
import { sign } from 'viem/accounts'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  createRecoveryReader,
  type RecoveryQuestion,
} from '../../packages/families/src/ethereum/reading/recoveryReader.ts'
import { createQuorumClient } from '../../packages/rpc/src/quorumClient.ts'

let network: TestNetwork
let proxies: readonly FaultProxy[]
beforeAll(async () => {
  network = await startTestNetwork()
  const targetUrl = network.chains.hub.url
  proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl })))
})
afterAll(async () => {
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
  await network?.stop()
})

const options = () => ({ signal: AbortSignal.timeout(20_000) })

function openReader() {
  const endpoints = proxies.map(({ url }, index) => ({ url, alias: `h${index + 1}` }))
  const quorum = createQuorumClient({ chainId: 'relay-recovery', endpoints })
  onTestFinished(() => quorum.close())
  const { hub, genericMapping, oracle } = network.deployment.hub
  return createRecoveryReader({
    chainId: 'relay-recovery',
    quorum,
    mappingAddress: genericMapping,
    oracleAddress: oracle,
    hubAddress: async () => hub,
    rule: { mode: 'depth', tag: 'finalized', blocks: 2n, seconds: 0n },
  })
}

let asked = 0
function question(): RecoveryQuestion {
  asked += 1
  const digits = asked.toString(16)
  return {
    user: `0x${digits.padStart(40, 'a')}`,
    id: `0x${digits.padStart(64, 'd')}`,
    holder: `0x${digits.padStart(40, 'b')}`,
    hubTokenId: 7n,
    mintKey: sha256TextHex(digits),
  }
}

const send = (from: 'deployer' | 'fillWallet', to: Hex, data: Hex) =>
  network.chains.hub.chain.send(network.keys[from], [{ what: 'setting', to, data }])

async function promise({ user, id }: RecoveryQuestion): Promise<void> {
  const args = [user, id, '0x01'] as const
  const data = encodeFunctionData({ abi: genericMappingAbi, functionName: 'setEntryFor', args })
  await send('deployer', network.deployment.hub.genericMapping, data)
}

/** As the quorum of the oracles mints it. */
async function mint({ holder, hubTokenId, mintKey }: RecoveryQuestion): Promise<void> {
  const { oracle, oracleMultisig, chainId } = network.deployment.hub
  const execution = {
    idempotencyKey: mintKey,
    actions: [encodeMintAction({ hubTo: holder, hubTokenId, amount: 100n })],
  }
  const domain = { chainId, verifyingContract: oracle, version: '2' }
  const hash = toHex(signingDigest({ purpose: 'execution', domain, execution }))
  const oracles = [...network.keys.oracles].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
  const signatures = oracles.slice(0, 2).map(({ privateKey }) => sign({ hash, privateKey, to: 'hex' }))
  const args = [execution, oracleMultisig, concatHex(await Promise.all(signatures))] as const
  await send('fillWallet', oracle, encodeFunctionData({ abi: hubOracleAbi, functionName: 'execute', args }))
}

test('a promise is there not at all, then not finally, then for good', async () => {
  const [wanted, reader] = [question(), openReader()]
  await mint(wanted)
  await network.mine('hub', 2)
  expect(await reader.read(wanted, options())).toMatchObject({ entryData: '0x', entrySeconds: 0n })
  await promise(wanted)
  await expect(reader.read(wanted, options())).rejects.toMatchObject({
    code: 'HUB_NOT_FINAL',
    kind: 'not_final',
    retryAfterSeconds: expect.any(Number),
  })
  const { timestamp } = await network.chains.hub.chain.client.getBlock()
  await network.mine('hub', 2)
  const found = await reader.read(wanted, options())
  expect(found).toMatchObject({ entryData: '0x01', entrySeconds: timestamp, isMinted: true, balance: 100n })
  expect(found.readAtSeconds).toBe(timestamp)
  expect(found.evidence).toMatchObject({ chainId: 'relay-recovery', finalityRule: '2 blocks' })
})

test('P-85: a deposit that only the newest block shows is asked for again', async () => {
  const [wanted, reader] = [question(), openReader()]
  await promise(wanted)
  await network.mine('hub', 2)
  expect(await reader.read(wanted, options())).toMatchObject({ isMinted: false, balance: 0n })
  await mint(wanted)
  await expect(reader.read(wanted, options())).rejects.toMatchObject({ code: 'HUB_NOT_FINAL' })
  await network.mine('hub', 2)
  expect(await reader.read(wanted, options())).toMatchObject({ balance: 100n })
})

const lies: readonly (readonly [string, unknown])[] = [
  ['invents a promise', encodeAbiParameters([{ type: 'bytes' }, { type: 'uint256' }], ['0x01', 1n])],
  ['hides it', encodeAbiParameters([{ type: 'bytes' }, { type: 'uint256' }], ['0x', 0n])],
  ['answers nothing', '0x'],
  ['answers an offset beyond its answer', `0x${'ff'.repeat(64)}`],
]
test.each(lies)('P-125: one endpoint of three that %s changes nothing', async (_lie, result) => {
  const [promised, none] = [question(), question()]
  await promise(promised)
  for (const one of [promised, none]) await mint(one)
  await network.mine('hub', 2)
  proxies[0]?.set({ kind: 'lie', rewrite: (call, truth) => (call.method === 'eth_call' ? result : truth) })
  onTestFinished(() => void proxies[0]?.set({ kind: 'pass' }))
  const reader = openReader()
  expect(await reader.read(promised, options())).toMatchObject({ entryData: '0x01', balance: 100n })
  expect(await reader.read(none, options())).toMatchObject({ entryData: '0x', balance: 100n })
})
