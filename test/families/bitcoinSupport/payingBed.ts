import { type Hex, hexToBytes, Secret } from '@causeway/core'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { lineWallet, type OwnOutput } from '@causeway/families/rules'
import {
  type BitcoinApi,
  type BitcoinNode,
  ConstructedChain,
  startBitcoinNode,
} from '@causeway/localnet/standIns/bitcoin'
import type { TxOutput } from 'bitcoinjs-lib'
import { onTestFinished } from 'vitest'
import { linePayingFamily } from '../../../packages/chains/src/chainFamilies.ts'
import type {
  LinePayingChain,
  LineWork,
} from '../../../packages/families/src/bitcoin/paying/linePayingChain.ts'
import { chainOf, funding, user } from './bitcoinBed.ts'

const walletKey: Hex = `0x${'5e'.repeat(32)}`
export const idOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
const recipientScript = user.witness.script

/** A chain with the first output of a wallet's line, and nodes that show it. */
export type PayingBed = {
  readonly chain: ConstructedChain
  readonly nodes: readonly BitcoinNode[]
  readonly first: { readonly txid: string; readonly vout: number }
  readonly script: Uint8Array
  /** A process that has the key and remembers nothing. */
  open(options?: { readonly api?: BitcoinApi; readonly nodes?: readonly BitcoinNode[] }): LinePayingChain
  /** Blocks in which everything waiting is final. */
  settle(): void
  /** Amount that the tests' recipient received in blocks. */
  received(): bigint
  /** Transactions in blocks that name an order. */
  naming(orderId: Hex): number
}

export const lineCoins = 10n ** 8n
const finalBlocks = 3

export async function startPayingBed(count = 1): Promise<PayingBed> {
  const chain = new ConstructedChain()
  const nodes = await Promise.all(Array.from({ length: count }, () => startBitcoinNode(chain)))
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
  })
  const open: PayingBed['open'] = ({ api = 'node', nodes: asked = nodes } = {}) => {
    const urls = asked.map((node) => node.url(api))
    const opened = linePayingFamily({ vmType: 'bitcoin-vm' })?.open({
      chain: chainOf({ api, urls }),
      key: new Secret(walletKey),
      firstOutput: first,
      nowMs: () => 0,
    })
    if (opened === undefined) throw new Error('the family pays')
    onTestFinished(() => opened.close())
    return opened
  }
  const blocks = () => Array.from({ length: chain.tipHeight + 1 }, (_, height) => chain.blockAt(height))
  const mined = () => blocks().flatMap((block) => block?.transactions ?? [])
  let first = { txid: '', vout: 0 }
  const { script } = lineWallet(hexToBytes(walletKey), bitcoinNetworkOf('regtest'))
  const funded = funding({ script, value: lineCoins })
  chain.mine(funded)
  chain.mineEmpty(finalBlocks)
  first = { txid: funded.getId(), vout: 0 }
  return {
    chain,
    nodes,
    first,
    script,
    open,
    settle() {
      chain.mineWaiting()
      chain.mineEmpty(finalBlocks)
    },
    received: () =>
      mined()
        .flatMap(({ outs }): readonly TxOutput[] => outs)
        .filter(({ script: paid }) => Buffer.compare(paid, recipientScript) === 0)
        .reduce((sum, { value }) => sum + value, 0n),
    naming: (orderId) =>
      mined().filter(({ outs }) =>
        outs.some(({ script: one }) => Buffer.from(one).toString('latin1').includes(orderId)),
      ).length,
  }
}

export function paymentOf(orderId: Hex, id = orderId, amount = 10_000n): LineWork {
  return {
    mark: { kind: 'paid', id },
    orderId,
    payments: [{ recipient: user.witness.address, amount }],
  }
}
export const closingOf = (id: Hex): LineWork => ({ mark: { kind: 'closed', id }, payments: [] })

/** Signs at a place, by default where the line ends, and has nothing sent. */
export async function signAt(
  paying: LinePayingChain,
  work: LineWork,
  { parent, fee = 1_000n }: { readonly parent?: OwnOutput; readonly fee?: bigint } = {},
) {
  const place = parent ?? (await paying.look([])).tip
  const signed = await paying.sign(work, { parent: place, gathered: [] }, fee)
  return { ...signed, parent: place, place: { txid: signed.hash, vout: 0, value: signed.left } }
}

export { transactionOf } from '@causeway/localnet/standIns/bitcoin'
