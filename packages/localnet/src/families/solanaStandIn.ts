import { createHash } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { Keypair, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import {
  deployDepository,
  depositNative,
  programBytes,
  SolanaNode,
  startRpcServer,
} from '../standIns/solana/index.ts'
import type { SolanaFunding } from './familySettings.ts'
import { fundSolana } from './fundSolana.ts'
import { solanaBlockTimeMs } from './solanaTokens.ts'
import type { FamilyStandIn } from './standIn.ts'

const noOrder: Hex = `0x${'00'.repeat(32)}`
const feeLamports = 5_000n
/** Above what an account must hold to exist. */
const leftLamports = 1_000_000_000n

export type SolanaStandIn = FamilyStandIn & {
  /** From here on it is a chain to quote: accounts own something, and blocks follow each other by the clock. */
  open(funding: SolanaFunding): void
}

/** The depository program and that of deposit addresses on the Solana runtime, behind JSON-RPC. */
export async function openSolana(
  port: number,
  { depository, addressProgram }: { readonly depository: string; readonly addressProgram: string },
): Promise<SolanaStandIn> {
  const node = new SolanaNode()
  const deployed = deployDepository(node, depository)
  node.addProgram(addressProgram, programBytes('depositAddresses'))
  node.airdrop(deployed.addresses.vault, leftLamports)
  const server = await startRpcServer(node, port)
  let ticking: ReturnType<typeof setInterval> | undefined
  return {
    url: server.url,
    stop() {
      clearInterval(ticking)
      return server.stop()
    },
    open(funding) {
      fundSolana({ node, depository: deployed }, funding)
      tick(node)
      ticking = setInterval(() => tick(node), solanaBlockTimeMs)
    },
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

/** Slots are counted from 1970, so that those of a later start are above those of an earlier one. */
function tick(node: SolanaNode): void {
  const nowMs = Date.now()
  node.tick(BigInt(Math.floor(nowMs / 1_000)), BigInt(Math.floor(nowMs / solanaBlockTimeMs)))
}
