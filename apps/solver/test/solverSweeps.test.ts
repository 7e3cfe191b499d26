// Goal: the solver empties every deposit address once into the depository, over kill -9 at any moment and
// lost answers, and refuses what it must not send. Method: the solver as `npm start` runs it on a real
// node; a scripted quote-api lists the sweeps; the depository's events tell what came of them.
// CAUSEWAY_FAULTS=1 runs the long form.
import { randomBytes } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { depositAddressOf, depositOrderSalt } from '@causeway/families/rules'
import { depositoryAbi, startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { zeroAddress } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshAccount, signOrder, wordsOf } from './support/paidOrders.ts'
import { type ScriptedItem, startScriptedWork } from './support/scriptedWork.ts'
import { type SolverBench, startSolver, startSolverBench, surviveKills } from './support/solverBench.ts'

const kills = process.env['CAUSEWAY_FAULTS'] === '1' ? 20 : 3
const addressesPerKill = 4
const amount = 1_000n
const orderSigner = freshAccount()
const depositor = freshAccount()
let network: TestNetwork
let bench: SolverBench
let lastItem = 0

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  bench = await startSolverBench(network)
})
afterAll(async () => {
  await bench?.stop()
  await network?.stop()
})

type Sweep = ScriptedItem & { readonly orderId: Hex; readonly address: Hex }

/** An address with `amount` on it, and the item that sweeps it. */
async function sweep(change: object = {}): Promise<Sweep> {
  const { depositAddresses, depository, chainId } = network.deployment.base
  const payer = network.keys.users[0] ?? freshAccount()
  const terms = {
    orderSigner: orderSigner.address,
    sweeper: network.keys.fillWallet.address,
    depositor: depositor.address,
    nonce: generatePrivateKey(),
  }
  const address = depositAddressOf(terms, depositAddresses)
  const salt = depositOrderSalt(address, randomBytes(12))
  const signed = await signOrder(network, { signer: orderSigner, salt, inputWei: amount })
  const { orderId, orderSignature } = signed
  await network.chains.base.chain.send(payer, [
    { what: 'payment', to: address, data: '0x', valueWei: amount },
  ])
  lastItem += 1
  return {
    id: `00000000-0000-4000-8000-${String(lastItem).padStart(12, '0')}`,
    kind: 'sweep',
    orderId,
    address,
    payload: {
      chainId,
      contract: depositAddresses.contract,
      depositAddress: address,
      currency: zeroAddress,
      amount: amount.toString(),
      deadline: Math.floor(Date.now() / 1_000) + 3_600,
      deposit: { depository, orderId, depositor: depositor.address },
      terms,
      order: wordsOf(signed),
      orderSignature,
      ...change,
    },
  }
}

const balanceOf = (address: Hex) => network.chains.base.chain.client.getBalance({ address })

async function depositsOf(orderId: Hex) {
  const events = await network.chains.base.chain.client.getContractEvents({
    address: network.deployment.base.depository,
    abi: depositoryAbi,
    eventName: 'RelayNativeDeposit',
    fromBlock: 0n,
    strict: true,
  })
  return events.filter(({ args }) => args.id === orderId)
}

describe('sweeps of the solver', () => {
  test(`empty every address once through ${kills} kills at random moments, and lost answers`, async () => {
    const work = await startScriptedWork()
    const settings = await bench.settings(work)
    const sweeps: Sweep[] = []
    const last = await surviveKills(settings, { work, kills }, async () => {
      for (let count = 0; count < addressesPerKill; count += 1) {
        const item = await sweep()
        sweeps.push(item)
        work.add(item)
      }
    })
    await waitUntil('all are reported', () => sweeps.every(({ id }) => work.reports.has(id)))
    await waitUntil('all are empty', async () => {
      const balances = await Promise.all(sweeps.map(({ address }) => balanceOf(address)))
      return balances.every((balance) => balance === 0n)
    })
    for (const { id, orderId } of sweeps) {
      const deposits = await depositsOf(orderId)
      expect(deposits, `${id}\n${last.output()}`).toHaveLength(1)
      expect(deposits[0]?.args.amount).toBe(amount)
      expect(deposits[0]?.args.from.toLowerCase()).toBe(depositor.address.toLowerCase())
      // On a busy machine one that waited is replaced: the last one that was told is the one that was mined.
      expect(work.reports.get(id)?.at(-1)).toBe(deposits[0]?.transactionHash)
    }
    expect(work.failures.size).toBe(0)
  }, 1_800_000)

  test('are refused where nothing is to be sent, with the reason', async () => {
    const work = await startScriptedWork()
    const settings = await bench.settings(work)
    await startSolver(settings).ready()
    const refused = [await sweep(), await sweep(), await sweep(), await sweep()]
    const [late, elsewhere, unknownChain, broken] = refused.map(({ id, kind, payload }, index) => {
      const changes = [
        { deadline: Math.floor(Date.now() / 1_000) - 60 },
        { contract: network.deployment.base.depository },
        { chainId: 1 },
        { orderSignature: '0x1' },
      ]
      return { id, kind, payload: { ...payload, ...changes[index] } }
    })
    const empty = await sweep()
    const first: ScriptedItem = { ...empty, id: empty.id.replace(/^0/, '1') }
    work.add(first)
    await waitUntil('it is swept', async () => (await balanceOf(empty.address)) === 0n)
    const items = [late, elsewhere, unknownChain, broken, empty]
    for (const item of items) if (item !== undefined) work.add(item)
    await waitUntil('all are refused', () => items.every((item) => item && work.failures.has(item.id)))
    expect(items.map((item) => item && work.failures.get(item.id)?.[0])).toEqual([
      'the deadline has passed',
      'ORDER_REFUSED: the contract is another one',
      "ORDER_REFUSED: chain 1 is none of this solver's",
      expect.stringContaining('orderSignature'),
      'EXECUTION_REVERTED: the transaction would revert',
    ])
    expect(work.reports.size).toBe(1)
  }, 200_000)
})
