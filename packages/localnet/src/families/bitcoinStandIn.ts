import { createHash } from 'node:crypto'
import { Transaction } from 'bitcoinjs-lib'
import { z } from 'zod'
import { ConstructedChain, startBitcoinNode, transactionOf } from '../standIns/bitcoin/index.ts'
import { bitcoinDepositoryScript, witnessScript } from './familyPlans.ts'
import { openJournal } from './journal.ts'
import { bitcoinBlockTimeMs, bitcoinIdleBlockMs } from './quotedFamilies.ts'
import type { FamilyStandIn, StandInOptions } from './standIn.ts'

/** Blocks on top of a block that make it final under `chains.local.json`, and one more. */
const blocksOnTop = 3

/** Script of one byte, `OP_TRUE`. @source Bitcoin Core, script.h */
const trueScript = Uint8Array.of(0x51)

const hex = z.string().regex(/^[0-9a-f]*$/)
/** A mined block's transactions without the coinbase, or a transaction that entered the mempool; in hex. */
const entrySchema = z.union([
  z.object({ timeSeconds: z.number().int(), block: z.array(hex) }),
  z.object({ waiting: hex }),
])
type Entry = z.infer<typeof entrySchema>

/** Opens the Bitcoin stand-in: a constructed chain behind the APIs of a node and, under `/api`, of Esplora. */
export async function openBitcoin({ port, funding, journalFile }: StandInOptions): Promise<FamilyStandIn> {
  const journal = openJournal<Entry>(journalFile, entrySchema)
  // Without funding (see `StandInOptions`) blocks come with deposits alone, at fixed times.
  const chain = funding === undefined ? new ConstructedChain() : keptChain(journal)
  if (funding !== undefined && chain.tipHeight === 0) chain.mine(transactionOf(funding.bitcoin))
  const node = await startBitcoinNode(chain, port)
  const mining = funding && setInterval(() => mineByTheClock(chain), bitcoinBlockTimeMs)
  if (funding !== undefined) mineByTheClock(chain)
  return {
    url: node.url('node'),
    stop() {
      clearInterval(mining)
      return node.stop()
    },
    async deposit(amount, depositor) {
      // Gives the depositor coins from nothing: a constructed block takes an input that spends no known output.
      const coins = new Transaction()
      const unknownId = createHash('sha256').update(depositor).digest()
      coins.addInput(unknownId, 0, 0xffff_ffff, trueScript)
      coins.addOutput(witnessScript(depositor), amount)
      const deposit = new Transaction()
      deposit.version = 2
      deposit.addInput(coins.getHash(), 0)
      deposit.addOutput(bitcoinDepositoryScript, amount)
      const transactionId = deposit.getId()
      if (chain.find(transactionId) === undefined) {
        chain.mine(coins, deposit)
        chain.mineEmpty(blocksOnTop)
      }
      return { transactionId }
    },
  }
}

/** A chain whose blocks have the clock's time, and which the journal restores after a restart. */
function keptChain({ kept, add }: ReturnType<typeof openJournal<Entry>>): ConstructedChain {
  let replayedSeconds: number | undefined
  let isReplayed = false
  const hexOf = (transaction: Transaction) => transaction.toHex()
  const chain: ConstructedChain = new ConstructedChain(undefined, {
    // A replayed block has its old time; a new one is at least a second after the last.
    clockSeconds: () =>
      replayedSeconds ?? Math.max(Math.floor(Date.now() / 1_000), chain.timeAt(chain.tipHeight) + 1),
    onMined(timeSeconds, transactions) {
      if (isReplayed) add({ timeSeconds, block: transactions.map(hexOf) })
    },
    onWaiting(transaction) {
      if (isReplayed) add({ waiting: hexOf(transaction) })
    },
  })
  for (const entry of kept) {
    if ('waiting' in entry) {
      chain.offer(transactionOf(entry.waiting))
      continue
    }
    replayedSeconds = entry.timeSeconds
    chain.mine(...entry.block.map(transactionOf))
  }
  replayedSeconds = undefined
  isReplayed = true
  return chain
}

/** Mines waiting transactions, then the blocks that make them final; an idle chain gets a new head now and then. */
function mineByTheClock(chain: ConstructedChain): void {
  const height = chain.tipHeight
  const newest = Array.from({ length: blocksOnTop }, (_, index) => chain.blockAt(height - index))
  // The first transaction of a block is its coinbase, so a block with fewer than two is empty.
  const isFinal = newest.every((block) => block === undefined || block.transactions.length < 2)
  const isIdle = chain.waiting().length === 0 && isFinal
  const ageMs = Date.now() - chain.timeAt(height) * 1_000
  if (!isIdle || ageMs >= bitcoinIdleBlockMs) chain.mineWaiting()
}
