import { openFamilyChain } from '@causeway/chains'
import { encodeBase58, onchainId } from '@causeway/core'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import { encodeSolanaWithdrawal, type SolanaWithdrawal, solanaWithdrawalId } from '@causeway/families/rules'
import { depositNative, executeTransfer, memo, transferNative } from '@causeway/localnet/standIns/solana'
import { startSolanaBed } from '../../families/solanaSupport/startSolanaBed.ts'
import type { FamilyBed } from './familyBed.ts'
import { readableChain } from './readableChain.ts'
import { startRoundProxy } from './roundProxy.ts'

const id = 'solana'
const far = 2n ** 40n
const longAgo = 1_600_000_000n

/** The depository program on LiteSVM behind the stand-in of a node. Every transaction is final at once. */
export async function startSolanaFamilyBed(): Promise<FamilyBed> {
  const bed = await startSolanaBed()
  const { node, user, depository } = bed
  const upstream = await startRoundProxy(bed.url)
  const chain = readableChain(upstream.url, {
    id,
    vmType: 'solana-vm',
    hubChainId: '50',
    depository: depository.program.toBase58(),
  })
  let nonce = 0n
  const otherRecipient = encodeBase58(new Uint8Array(32).fill(0x51))
  node.airdrop(otherRecipient, 10n ** 9n)
  return {
    chain,
    upstream,
    otherRecipient,
    recipient: bed.recipient.toBase58(),
    currency: codecOf(mainNetwork('solana-vm')).nativeCurrency,
    decimals: 9,
    depositor: user.publicKey.toBase58(),
    extraData: '0x',
    async deposit({ orderId, amount }) {
      const transactionId = await bed.send([
        depositNative(depository, { sender: user.publicKey, amount, id: orderId }),
      ])
      const slot = node.transaction(transactionId)?.slot ?? 0n
      return {
        transactionId,
        onchainId: onchainId({ chainId: id, transactionId, onchainIndex: '0' }),
        timestampSeconds: node.block(slot)?.timeSeconds ?? 0n,
      }
    },
    pay({ orderId, recipient, amount }) {
      return bed.send([transferNative({ from: user.publicKey, to: recipient, amount }), memo(orderId)])
    },
    async withdrawal(status) {
      nonce += 1n
      const request: SolanaWithdrawal = {
        domain: `0x${'01'.repeat(32)}`,
        recipient: bed.recipient.toBase58(),
        token: undefined,
        amount: 5n,
        nonce,
        expiration: status === 'expired' ? longAgo : far,
        vaultAddress: depository.addresses.vault,
      }
      const withdrawal = encodeSolanaWithdrawal(request)
      if (status !== 'executed') return { withdrawal }
      const withdrawalId = solanaWithdrawalId(request)
      const execution = executeTransfer(depository, { executor: user.publicKey, request, withdrawalId })
      return { withdrawal, transactionId: await bed.send([execution]) }
    },
    finalize: async () => node.mine(1),
    open: (finalEntriesMax = 0) => openFamilyChain(chain, { finalEntriesMax }),
    async stop() {
      await upstream.stop()
      await bed.stop()
    },
  }
}
