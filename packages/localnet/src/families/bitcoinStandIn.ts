import { createHash } from 'node:crypto'
import { Transaction } from 'bitcoinjs-lib'
import { ConstructedChain, startBitcoinNode } from '../standIns/bitcoin/index.ts'
import { bitcoinDepositoryScript, witnessScript } from './familyPlans.ts'
import type { FamilyStandIn } from './standIn.ts'

/** What a block needs on top of it to be final in `chains.local.json`, and one more. */
const blocksOnTop = 3

/** A constructed chain behind the APIs of a node and, under `/api`, of Esplora. */
export async function openBitcoin(port: number): Promise<FamilyStandIn> {
  const chain = new ConstructedChain()
  const node = await startBitcoinNode(chain, port)
  return {
    url: node.url('node'),
    stop: node.stop,
    async deposit(amount, depositor) {
      const funding = new Transaction()
      const nowhere = createHash('sha256').update(depositor).digest()
      funding.addInput(nowhere, 0, 0xffff_ffff, Uint8Array.of(0x51))
      funding.addOutput(witnessScript(depositor), amount)
      const deposit = new Transaction()
      deposit.version = 2
      deposit.addInput(funding.getHash(), 0)
      deposit.addOutput(bitcoinDepositoryScript, amount)
      chain.mine(funding, deposit)
      chain.mineEmpty(blocksOnTop)
      return { transactionId: deposit.getId() }
    },
  }
}
