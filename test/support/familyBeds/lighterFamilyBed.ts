import { openFamilyChain } from '@causeway/chains'
import { type Hex, onchainId, Secret } from '@causeway/core'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import { encodeLighterWithdrawal } from '@causeway/families/rules'
import { startLighterNode } from '@causeway/localnet/standIns/lighter'
import {
  depository,
  keyOf,
  memoOf,
  put,
  queuedAtMs,
  transfer,
  user,
  withdrawalOf,
} from '../../families/lighterSupport/transfers.ts'
import type { FamilyBed } from './familyBed.ts'
import { readableChain } from './readableChain.ts'
import { startRoundProxy } from './roundProxy.ts'

const id = 'lighter'
const solver = '500'
const recipient = '501'
const otherRecipient = '502'
const farAway = 4_000_000_000_000n

export type LighterBedOptions = {
  /** Withdrawals are looked for by an explorer, and asked for without their transaction. */
  readonly hasExplorer?: boolean
}

/** The stand-in of Lighter's HTTP API. What is there is executed. */
export async function startLighterFamilyBed({
  hasExplorer = false,
}: LighterBedOptions = {}): Promise<FamilyBed> {
  const node = await startLighterNode()
  node.setAccount(depository, keyOf('aa'))
  const upstream = await startRoundProxy(node.url)
  const chain = readableChain(upstream.url, {
    id,
    vmType: 'lighter-vm',
    hubChainId: '57',
    depository,
    ...(hasExplorer && { additionalData: { explorerApiUrl: new Secret(`${upstream.url}/explorer`) } }),
  })
  let nonce = 0n
  const transferOf = (from: string, to: string, Amount: bigint) => {
    nonce += 1n
    const accounts = { FromAccountIndex: BigInt(from), ToAccountIndex: BigInt(to) }
    return transfer({ ...accounts, Amount, Nonce: nonce })
  }
  const send = (from: string, to: string, { orderId, amount }: { orderId: Hex; amount: bigint }) =>
    put([node], { ...transferOf(from, to, amount), Memo: memoOf(orderId) })
  return {
    chain,
    upstream,
    recipient,
    otherRecipient,
    currency: codecOf(mainNetwork('lighter-vm')).nativeCurrency,
    decimals: 6,
    depositor: user,
    extraData: '0x',
    async deposit(deposit) {
      const transactionId = send(user, depository, deposit)
      return {
        transactionId,
        onchainId: onchainId({ chainId: id, transactionId, onchainIndex: '0' }),
        timestampSeconds: queuedAtMs / 1_000n,
      }
    },
    pay: async (payment) => send(solver, payment.recipient, payment),
    async withdrawal(status) {
      const info = { ...transferOf(depository, recipient, 5n), ExpiredAt: farAway }
      const withdrawal = encodeLighterWithdrawal(withdrawalOf(info))
      const shown = status === 'expired' ? { ...info, Amount: 1n } : info
      const transactionId = put([node], shown, { status: status === 'pending' ? 1 : 3 })
      return hasExplorer ? { withdrawal } : { withdrawal, transactionId }
    },
    finalize: async () => undefined,
    open: (finalEntriesMax = 0) => openFamilyChain(chain, { finalEntriesMax }),
    async stop() {
      await upstream.stop()
      await node.stop()
    },
  }
}
