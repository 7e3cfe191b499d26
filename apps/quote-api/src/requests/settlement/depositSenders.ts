import { parseList, parseRecord } from '@causeway/chains'
import type { Hex } from '@causeway/core'
import { minedCalls, parseAddress, parseLog, parseMined, type Reading } from '../../chainReadings/readings.ts'
import { transferTopic } from './depositReadings.ts'

/**
 * Who signed a transaction, and whose tokens it brought to the depository: a deposit may name anybody else as its
 * depositor. `undefined` where the transaction is in no block.
 */
export function depositSendersReading(hash: string, depository: string): Reading<readonly Hex[] | undefined> {
  return {
    calls: minedCalls(hash),
    parse: (answers) => {
      const mined = parseMined(answers, hash)
      if (mined === undefined) return undefined
      const { transaction, receipt, what } = mined
      const owners = parseList(receipt['logs'], what).flatMap((value) => {
        const [topic, from, to] = parseLog(parseRecord(value, what), what).topics
        const isBrought = topic === transferTopic && from !== undefined && addressOf(to) === depository
        return isBrought ? [addressOf(from)] : []
      })
      const senders = [parseAddress(transaction['from'], what), ...owners]
      return [...new Set(senders.flatMap((sender) => sender ?? []))]
    },
  }
}

const addressOf = (topic: Hex | undefined): Hex | undefined => topic && `0x${topic.slice(26)}`
