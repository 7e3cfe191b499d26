import { createHash } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import {
  deployDepository,
  depositNative,
  programBytes,
  SolanaNode,
  startRpcServer,
} from '../standIns/solana/index.ts'
import { isSolanaWalletName, solanaWallets } from '../wallets/solanaWallets.ts'
import { placeSolanaWallet } from '../wallets/tokenHolders.ts'
import { familyPlans, solanaAddressProgram } from './familyPlans.ts'
import { fundSolana } from './fundSolana.ts'
import { localMints, solanaBlockTimeMs } from './solanaTokens.ts'
import { type FamilyStandIn, firstDepositor, requireName, type StandInOptions } from './standIn.ts'

const noOrder: Hex = `0x${'00'.repeat(32)}`
const feeLamports = 5_000n
/** Above what an account must hold to exist. */
const leftLamports = 1_000_000_000n
/** One, of an account that somebody asks for. */
const walletWeth = 1_000_000_000n

/** The depository program and that of deposit addresses on the Solana runtime, behind JSON-RPC. Every start has it anew. */
export async function openSolana({ port, depository, funding }: StandInOptions): Promise<FamilyStandIn> {
  const node = new SolanaNode()
  const deployed = deployDepository(node, depository)
  node.addProgram(solanaAddressProgram, programBytes('depositAddresses'))
  node.airdrop(deployed.addresses.vault, leftLamports)
  const server = await startRpcServer(node, port)
  const deposits = new Map<string, string>()
  const deposit = (amount: bigint, depositor: string): string => {
    const before = deposits.get(depositor)
    if (before !== undefined) return before
    const sender = Keypair.fromSeed(createHash('sha256').update(depositor).digest())
    node.airdrop(sender.publicKey.toBase58(), amount + feeLamports + leftLamports)
    const message = new TransactionMessage({
      payerKey: sender.publicKey,
      recentBlockhash: node.latestBlockhash(),
      instructions: [depositNative(deployed, { sender: sender.publicKey, amount, id: noOrder })],
    })
    const transaction = new VersionedTransaction(message.compileToV0Message())
    transaction.sign([sender])
    const sent = node.send(transaction.serialize(), { skipPreflight: false })
    if ('refusal' in sent) throw new Error(`the deposit is refused: ${sent.refusal}`)
    deposits.set(depositor, sent.signature)
    return sent.signature
  }
  // Before accounts own anything, so that its id depends on nothing that is given here.
  deposit(familyPlans.solana.firstAmount, firstDepositor)
  let ticking: ReturnType<typeof setInterval> | undefined
  if (funding !== undefined) {
    fundSolana({ node, depository: deployed }, funding.solana)
    tick(node)
    ticking = setInterval(() => tick(node), solanaBlockTimeMs)
  }
  return {
    url: server.url,
    stop() {
      clearInterval(ticking)
      return server.stop()
    },
    deposit: async (amount, depositor) => ({ transactionId: deposit(amount, depositor) }),
    async placeWallet(text) {
      const name = requireName(text, isSolanaWalletName, solanaWallets)
      const mint = new PublicKey(localMints.WETH.address)
      return placeSolanaWallet(node, name, { mint, amount: walletWeth })
    },
  }
}

/** Slots are counted from 1970, so that those of a later start are above those of an earlier one. */
function tick(node: SolanaNode): void {
  const nowMs = Date.now()
  node.tick(BigInt(Math.floor(nowMs / 1_000)), BigInt(Math.floor(nowMs / solanaBlockTimeMs)))
}
