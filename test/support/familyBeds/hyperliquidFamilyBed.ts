import { openFamilyChain } from '@causeway/chains'
import { formatFixed, type Hex, onchainId } from '@causeway/core'
import { encodeHyperliquidWithdrawal } from '@causeway/families/rules'
import {
  account,
  depository,
  native,
  sender,
  startHyperliquidBed,
  timeMs,
  timeSeconds,
  usdSend,
} from '../../families/hyperliquidSupport/startHyperliquidBed.ts'
import type { FamilyBed } from './familyBed.ts'
import { payeeOf } from './payeeOf.ts'
import { readableChain } from './readableChain.ts'
import { startRoundProxy } from './roundProxy.ts'

const id = 'hyperliquid'
const decimals = 8
const solver = account('50')
const recipient = account('a2')
const otherRecipient = account('a3')
const payees = { [recipient]: recipient, [otherRecipient]: otherRecipient }

/** The stand-in of the exchange, and entries of the hub that name the order of each transfer. */
export async function startHyperliquidFamilyBed(): Promise<FamilyBed> {
  const bed = await startHyperliquidBed()
  const [exchange] = bed.exchanges
  const upstream = await startRoundProxy(exchange.url)
  const chain = readableChain(upstream.url, {
    id,
    vmType: 'hyperliquid-vm',
    hubChainId: '1337',
    depository,
  })
  let nonce = BigInt(timeMs)
  const nextTransfer = (destination: Hex, amount: bigint) => {
    nonce += 1n
    return usdSend({ destination, time: nonce, amount: formatFixed(amount, decimals) })
  }
  const send = (user: Hex, transfer: { destination: Hex; orderId: Hex; amount: bigint }) => {
    const action = nextTransfer(transfer.destination, transfer.amount)
    bed.map({ user, nonce: action.time, data: transfer.orderId })
    return bed.list(action, { user })
  }
  return {
    chain,
    upstream,
    recipient,
    otherRecipient,
    decimals,
    currency: native,
    depositor: sender,
    extraData: '0x',
    async deposit({ orderId, amount }) {
      const transactionId = send(sender, { destination: depository, orderId, amount })
      return {
        transactionId,
        onchainId: onchainId({ chainId: id, transactionId, onchainIndex: '0' }),
        timestampSeconds: timeSeconds,
      }
    },
    async pay({ orderId, recipient: payee, amount }) {
      return send(solver, { destination: payeeOf(payees, payee), orderId, amount })
    },
    async withdrawal(status) {
      const action = nextTransfer(recipient, 5n)
      const withdrawal = encodeHyperliquidWithdrawal(action)
      if (status === 'pending') return { withdrawal }
      const error = status === 'executed' ? null : 'Insufficient balance'
      return { withdrawal, transactionId: bed.list(action, { user: depository, error }) }
    },
    // Transactions that the exchange shows are final.
    finalize: async () => undefined,
    open: (finalEntriesMax = 0) => openFamilyChain(chain, { finalEntriesMax }, bed.hubEntries),
    async stop() {
      await upstream.stop()
      await bed.stop()
    },
  }
}
