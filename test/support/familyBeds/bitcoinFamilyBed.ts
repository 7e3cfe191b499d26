import { openFamilyChain } from '@causeway/chains'
import { onchainId, Secret } from '@causeway/core'
import {
  type BitcoinApi,
  ConstructedChain,
  keyOf,
  startBitcoinNode,
  timeAt,
} from '@causeway/localnet/standIns/bitcoin'
import {
  depository,
  depositoryKey,
  funding,
  native,
  type Output,
  paying,
  saying,
  solver,
  user,
} from '../../families/bitcoinSupport/transactions.ts'
import {
  elsewhere,
  executed,
  psbtOf,
  type Spendable,
  withdrawalOf,
} from '../../families/bitcoinSupport/withdrawals.ts'
import type { FamilyBed } from './familyBed.ts'
import { payeeOf } from './payeeOf.ts'
import { readableChain } from './readableChain.ts'
import { startRoundProxy } from './roundProxy.ts'

const id = 'bitcoin'
const confirmations = 3
const recipient = keyOf('recipient').witness
const otherRecipient = keyOf('other recipient').legacy
const scripts = { [recipient.address]: recipient.script, [otherRecipient.address]: otherRecipient.script }

/** Constructed blocks behind the stand-in of a node, or of an Esplora-compatible API. */
export async function startBitcoinFamilyBed(api: BitcoinApi = 'node'): Promise<FamilyBed> {
  const blocks = new ConstructedChain()
  const node = await startBitcoinNode(blocks)
  const upstream = await startRoundProxy(node.url('node'))
  const isNode = api === 'node'
  const chain = readableChain(upstream.url, {
    id,
    vmType: 'bitcoin-vm',
    network: 'regtest',
    hubChainId: '56',
    depository,
    finality: { mode: 'depth', blocks: confirmations },
    ...(!isNode && {
      endpoints: [],
      ready: false,
      additionalData: { esploraCompatibleApiUrl: new Secret(`${upstream.url}/api`) },
    }),
  })

  /** A transaction that spends what its sender just got. */
  function send(from: typeof user, outputs: readonly Output[]): string {
    const source = funding({ script: from.witness.script, value: 10n ** 12n })
    const transaction = paying([{ txid: source.getId(), vout: 0 }], outputs)
    blocks.mine(source, transaction)
    return transaction.getId()
  }
  const finalize = async () => blocks.mineEmpty(confirmations - 1)

  return {
    chain,
    upstream,
    finalize,
    recipient: recipient.address,
    otherRecipient: otherRecipient.address,
    currency: native,
    decimals: 8,
    depositor: user.witness.address,
    extraData: '0x',
    async deposit({ orderId, amount }) {
      const outputs = [{ script: depositoryKey.legacy.script, value: amount }, saying(orderId)]
      const transactionId = send(user, outputs)
      return {
        transactionId,
        onchainId: onchainId({ chainId: id, transactionId, onchainIndex: '1' }),
        timestampSeconds: BigInt(timeAt(blocks.tipHeight)),
      }
    },
    async pay({ orderId, recipient: payee, amount }) {
      return send(solver, [{ script: payeeOf(scripts, payee), value: amount }, saying(orderId)])
    },
    async withdrawal(status) {
      const from = funding({ script: depositoryKey.legacy.script, value: 5_000n })
      const inputs: readonly Spendable[] = [{ from, vout: 0, key: depositoryKey, kind: 'legacy' }]
      blocks.mine(from)
      const psbt = psbtOf({ inputs })
      const withdrawal = withdrawalOf(psbt)
      if (status === 'pending') return { withdrawal }
      const away = { script: solver.witness.script, value: 1n }
      const spender = status === 'executed' ? executed(psbt, inputs) : elsewhere(inputs, [away])
      blocks.mine(spender)
      return { withdrawal, transactionId: spender.getId() }
    },
    open: (finalEntriesMax = 0) => openFamilyChain(chain, { finalEntriesMax }),
    async stop() {
      await upstream.stop()
      await node.stop()
    },
  }
}
