import {
  type Execution,
  type ExecutionDomain,
  type Hex,
  type NoFillOrRefund,
  noFillOrRefundEntry,
  UpstreamUnavailableError,
} from '@causeway/core'
import type { HubReader, HubTransactions, MappingWriter } from '@causeway/families'
import { concatHex, encodeFunctionData, parseAbi } from 'viem'
import { proofOf, type VouchingOracles, vouchForEntry } from './vouching.ts'

/** Transactions of a solver on the hub that let a deposit's owner recover it. Repeating them changes nothing. */
export interface HubRecoveries {
  /** Brings the deposits of a final transaction to the hub. @throws OraclesRefusedError, UpstreamUnavailableError */
  submitDeposits(deposits: { readonly chainId: string; readonly transactionId: string }): Promise<void>
  /** True if the hub has run the execution with this idempotency key. @throws UpstreamUnavailableError */
  isExecuted(key: Hex): Promise<boolean>
  /**
   * Writes a promise into the hub's generic mapping: the solver's, that no fill or refund will come.
   * @throws OraclesRefusedError, MappingTakenError, UpstreamUnavailableError
   */
  writePromise(promise: NoFillOrRefund, signature: Hex): Promise<void>
}

/** At least one oracle refuses for good, and none signs. */
export class OraclesRefusedError extends Error {
  constructor(subject: string) {
    super(`Oracles refuse to sign ${subject}.`)
    this.name = 'OraclesRefusedError'
  }
}

const abi = parseAbi([
  'struct Execution { bytes32 idempotencyKey; bytes[] actions; }',
  'function execute(Execution execution, address oracle, bytes signature)',
])
const timeoutMs = 15_000
/** Gas limit of `execute`: the base covers signatures of a dozen oracles, each action writes a balance. */
const baseGas = 600_000n
const actionGas = 120_000n

/** @source rule P-73 */
export function createHubRecoveries(options: {
  readonly vouching: VouchingOracles<'attestPromise' | 'attestDeposits'>
  readonly writer: MappingWriter
  readonly transactions: HubTransactions
  readonly reader: Pick<HubReader, 'isExecuted'>
  readonly executionDomain: ExecutionDomain
}): HubRecoveries {
  const { vouching, writer, transactions, reader, executionDomain } = options
  const { oracles, threshold, multisig } = vouching

  return {
    async submitDeposits(deposits) {
      const signal = AbortSignal.timeout(timeoutMs)
      const answers = await Promise.all(
        oracles.map((oracle) => oracle.attestDeposits(deposits, executionDomain, signal)),
      )
      const signed = answers.flatMap((one) => (one.said === 'signed' ? [one] : []))
      // Oracles may sign different executions; only one that `threshold` of them signed alike counts.
      const agreed = signed.filter(
        ({ execution }) => signed.filter((other) => isSame(other.execution, execution)).length >= threshold,
      )
      const [first] = agreed
      if (first === undefined) {
        const refusal = answers.find(({ said }) => said === 'denied')
        if (signed.length === 0 && refusal !== undefined) throw new OraclesRefusedError('the deposit')
        throw new UpstreamUnavailableError('Too few oracles sign the deposit yet.')
      }
      const { execution } = first
      const proof = proofOf(
        agreed.filter((one) => isSame(one.execution, execution)),
        multisig,
        executionDomain.verifyingContract,
      )
      const args = [execution, proof.oracle, concatHex([...proof.signatures])] as const
      const data = encodeFunctionData({ abi, functionName: 'execute', args })
      const gasLimit = baseGas + actionGas * BigInt(execution.actions.length)
      await transactions.sendUntil(
        { to: executionDomain.verifyingContract, data, gasLimit },
        (readSignal) => reader.isExecuted(execution.idempotencyKey, { signal: readSignal }),
        signal,
      )
    },

    isExecuted: (key) => reader.isExecuted(key, { signal: AbortSignal.timeout(timeoutMs) }),

    async writePromise(promise, signature) {
      const signal = AbortSignal.timeout(timeoutMs)
      const request = { ...promise, signature }
      const vouched = await vouchForEntry(vouching, noFillOrRefundEntry(promise), (oracle, entry) =>
        oracle.attestPromise(request, entry, signal),
      )
      if (vouched === 'denied') throw new OraclesRefusedError('the promise')
      if (vouched === 'silent') throw new UpstreamUnavailableError('Too few oracles sign the promise yet.')
      await writer.write(vouched.entry, vouched.proof, signal)
    },
  }
}

function isSame(one: Execution, other: Execution): boolean {
  return one.idempotencyKey === other.idempotencyKey && one.actions.join() === other.actions.join()
}
