import { createHash } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { Keypair, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { deployDepository, depositNative, SolanaNode, startRpcServer } from '../standIns/solana/index.ts'
import type { FamilyStandIn } from './standIn.ts'

const noOrder: Hex = `0x${'00'.repeat(32)}`
const feeLamports = 5_000n
/** Above what an account must hold to exist. */
const leftLamports = 1_000_000_000n

/** The depository program on the Solana runtime, behind JSON-RPC. */
export async function openSolana(port: number, depository: string): Promise<FamilyStandIn> {
  const node = new SolanaNode()
  const deployed = await deployDepository(node, depository)
  node.airdrop(deployed.addresses.vault, leftLamports)
  const server = await startRpcServer(node, port)
  return {
    url: server.url,
    stop: server.stop,
    async deposit(amount, depositor) {
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
      return { transactionId: sent.signature }
    },
  }
}
