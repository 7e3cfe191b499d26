// Goal: a real node takes the sweep of a deposit address by the fill wallet at once, and what its depositor signs a month
// later and no block earlier; nobody else's signature spends from it. Who gains by breaking it: a user whose money lies at
// an address that nobody can empty; whoever empties it before its parties. Method: `npm test -- --suite=bitcoind` on a real node
// on regtest, with its rules for scripts.
import { type Hex, hexToBytes, Secret } from '@causeway/core'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { depositorWaitsBlocks, outputScript } from '@causeway/families/rules'
import { keyOf } from '@causeway/localnet/standIns/bitcoin'
import { script as scripts, Transaction } from 'bitcoinjs-lib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linePayingFamily } from '../../../packages/chains/src/chainFamilies.ts'
import type {
  LinePayingChain,
  LineWork,
} from '../../../packages/families/src/bitcoin/paying/linePayingChain.ts'
import { chainOf, depository, user } from '../bitcoinSupport/bitcoinBed.ts'
import { idOf } from '../bitcoinSupport/payingBed.ts'
import { elsewhere } from '../bitcoinSupport/withdrawals.ts'
import { type Bitcoind, startBitcoind } from './bitcoind.ts'

const miner = keyOf('miner')
const nobody = keyOf('nobody')
const walletKey: Hex = `0x${'5e'.repeat(32)}`
let node: Bitcoind
let paying: LinePayingChain
let coins: readonly Transaction[]
let used = 0

const scriptOf = (address: string) => outputScript(address, bitcoinNetworkOf('regtest'))
const mine = (count = 1) => node.mine(count, nobody.legacy.address)

beforeAll(async () => {
  node = await startBitcoind({ relaysAsUsual: true })
  await node.mine(105, miner.witness.address)
  coins = await Promise.all(
    [1, 2, 3, 4].map(async (height) => {
      const block = Object(await node.call('getblock', await node.call('getblockhash', height), 1))
      return Transaction.fromHex(String(await node.call('getrawtransaction', block.tx[0], false)))
    }),
  )
  const probe = open({ txid: 'ab'.repeat(32), vout: 0 })
  const first = await fund(probe.address, 10_000_000n)
  await probe.close()
  await mine(3)
  paying = open({ txid: first.getId(), vout: 0 })
}, 120_000)
afterAll(async () => {
  await paying?.close()
  await node?.stop()
})

function open(firstOutput: { readonly txid: string; readonly vout: number }): LinePayingChain {
  const opened = linePayingFamily({ vmType: 'bitcoin-vm' })?.open({
    chain: chainOf({ api: 'node', urls: [node.url] }),
    key: new Secret(walletKey),
    firstOutput,
    nowMs: () => Date.now(),
  })
  if (opened === undefined) throw new Error('the family pays')
  return opened
}

async function fund(address: string, ...values: readonly bigint[]): Promise<Transaction> {
  const from = coins[used]
  used += 1
  if (from === undefined) throw new Error('no coin left')
  const given = from.outs.reduce((sum, { value }) => sum + value, 0n)
  const spent = values.reduce((sum, value) => sum + value, 10_000n)
  const paid = values.map((value) => ({ script: scriptOf(address), value }))
  const outputs = [...paid, { script: nobody.witness.script, value: given - spent }]
  const funding = elsewhere([{ from, vout: 0, key: miner, kind: 'witness' }], outputs)
  await node.call('sendrawtransaction', funding.toHex())
  await mine()
  return funding
}

const made = (depositor: string, number: number) =>
  paying.depositAddress({
    orderSigner: `0x${'05'.repeat(20)}`,
    sweeper: paying.publicKey,
    depositor,
    nonce: idOf(number),
  })
const accepts = async (raw: string): Promise<unknown> =>
  Object(await node.call('testmempoolaccept', [raw]))[0]

test('what lies at an address is swept with its order named, at the size that was reckoned', async () => {
  const { address, script, terms } = made(user.witness.address, 1)
  await fund(address, 60_000n, 9_000n, 40_000n)
  expect(await paying.outputsToSweep(address)).toEqual([])
  await mine(2)
  const outputs = await paying.outputsToSweep(address)
  expect(outputs.map(({ value }) => value)).toEqual([60_000n, 40_000n])
  const work: LineWork = {
    orderId: idOf(77),
    payments: [{ recipient: depository, amount: 100_000n }],
    swept: { script, nonce: terms.nonce, outputs },
  }
  expect(paying.refuse(work)).toBeUndefined()
  const { tip } = await paying.look([])
  const size = paying.virtualBytesOf(work, { parent: tip, gathered: [] })
  const { raw } = await paying.sign(work, { parent: tip, gathered: [] }, BigInt(size) * 5n)
  const judged = Object(await accepts(raw.slice(2)))
  expect(judged).toMatchObject({ allowed: true })
  expect(judged.vsize).toBeLessThanOrEqual(size)
  expect(size - judged.vsize).toBeLessThanOrEqual(2)
  await paying.broadcast(raw)
  await mine(3)
  expect(await paying.outputsToSweep(address)).toEqual([])
})

test.each(['witness', 'legacy'] as const)(
  'its depositor of kind %s takes it back alone, a month later and no block earlier, and nobody else does',
  async (kind) => {
    const { address, script } = made(user[kind].address, kind === 'witness' ? 2 : 3)
    const funding = await fund(address, 50_000n)
    const by = (key: typeof user, sequence = depositorWaitsBlocks): string => {
      const transaction = new Transaction()
      transaction.version = 2
      transaction.addInput(funding.getHash(), 0, sequence)
      transaction.addOutput(user.witness.script, 48_000n)
      const code = hexToBytes(script)
      const digest = transaction.hashForWitnessV0(0, code, 50_000n, Transaction.SIGHASH_ALL)
      const signature = scripts.signature.encode(
        Uint8Array.from(key.signer.sign(digest)),
        Transaction.SIGHASH_ALL,
      )
      transaction.setWitness(0, [signature, key.publicKey, new Uint8Array(), code])
      return transaction.toHex()
    }
    await mine(depositorWaitsBlocks - 2)
    expect(await accepts(by(user))).toMatchObject({ allowed: false, 'reject-reason': 'non-BIP68-final' })
    await mine()
    expect(await accepts(by(user, 1))).toMatchObject({ allowed: false })
    expect(await accepts(by(nobody))).toMatchObject({ allowed: false })
    expect(await accepts(by(user))).toMatchObject({ allowed: true })
  },
  300_000,
)
