import { DomainError, type MappingDomain, type MappingEntry } from '@causeway/core'
import { concatHex, encodeFunctionData, parseAbi } from 'viem'
import type { HubEntries, MappingWriter } from '../../shared/hubEntries.ts'
import type { HubTransactions } from './hubTransactions.ts'

/** The mapping already has another entry under this id, which cannot be replaced. */
export class MappingTakenError extends DomainError {
  readonly code = 'NONCE_MAPPED_BEFORE'
  readonly kind = 'invalid_request'

  constructor() {
    super('The nonce of this transfer belongs to another order: ask for a new quote.')
  }
}

const abi = parseAbi([
  'function setEntry(address user, bytes32 id, bytes data, bytes32 nonce, address oracle, bytes signature)',
])

/** Enough for an entry of 52 bytes and the signatures of a dozen oracles. */
const gasLimit = 600_000n

/** Writes entries, signed by oracles, into the hub's generic mapping. Writing an entry again changes nothing. */
export function createMappingWriter(options: {
  readonly transactions: HubTransactions
  readonly entries: HubEntries
  readonly domain: MappingDomain
}): MappingWriter {
  const { transactions, entries, domain } = options

  async function isWritten({ user, id, data }: MappingEntry, signal: AbortSignal): Promise<boolean> {
    const hubEntry = await entries.read(user, id, { signal })
    if (hubEntry.createdAtSeconds === 0n) return false
    if (hubEntry.data.toLowerCase() !== data.toLowerCase()) throw new MappingTakenError()
    return true
  }

  return {
    write(entry, { oracle, signatures }, signal) {
      const { user, id, data: entryData, nonce } = entry
      const args = [user, id, entryData, nonce, oracle, concatHex([...signatures])] as const
      const data = encodeFunctionData({ abi, functionName: 'setEntry', args })
      const transaction = { to: domain.verifyingContract, data, gasLimit }
      return transactions.sendUntil(transaction, (readSignal) => isWritten(entry, readSignal), signal)
    },
  }
}
