import { ComputeBudgetProgram, SystemProgram, type VersionedMessage } from '@solana/web3.js'

/** Compute limits that a message requests, and their fee. */
export type ComputeBudget = {
  /** Micro-lamports per unit. */
  readonly price: bigint
  /** Asked for, or granted without asking. */
  readonly units: bigint
  /** Fee of the whole transaction. */
  readonly feeLamports: bigint
}

const lamportsPerSignature = 5_000n
const microLamports = 1_000_000n
const unitsPerInstruction = 200_000n
const unitsPerBuiltin = 3_000n
const unitsMax = 1_400_000n
const computeBudgetProgram = ComputeBudgetProgram.programId.toBase58()
const builtins: ReadonlySet<string> = new Set([computeBudgetProgram, SystemProgram.programId.toBase58()])
const setLimit = 2
const setPrice = 3

/** @source Solana documentation, "Transaction fees" and "Compute budget"; SIMD-0385 */
export function computeBudgetOf(message: VersionedMessage): ComputeBudget {
  const signatures = lamportsPerSignature * BigInt(message.header.numRequiredSignatures)
  if (message.version !== 1) return budgetByInstructions(message, signatures)
  const { computeUnitLimit, priorityFee } = message.transactionConfig
  const [units, priority] = [BigInt(computeUnitLimit ?? 0), BigInt(priorityFee ?? 0)]
  const price = units === 0n ? 0n : (priority * microLamports) / units
  return { price, units, feeLamports: signatures + priority }
}

function budgetByInstructions(
  { compiledInstructions, staticAccountKeys }: VersionedMessage,
  signatures: bigint,
): ComputeBudget {
  let [price, limit, granted] = [0n, undefined as bigint | undefined, 0n]
  for (const { programIdIndex, data } of compiledInstructions) {
    const program = staticAccountKeys[programIdIndex]?.toBase58() ?? ''
    granted += builtins.has(program) ? unitsPerBuiltin : unitsPerInstruction
    if (program !== computeBudgetProgram) continue
    const bytes = Buffer.from(data)
    if (bytes[0] === setLimit) limit = BigInt(bytes.readUInt32LE(1))
    if (bytes[0] === setPrice) price = bytes.readBigUInt64LE(1)
  }
  const requestedUnits = limit ?? granted
  const units = requestedUnits < unitsMax ? requestedUnits : unitsMax
  const priority = (price * units + microLamports - 1n) / microLamports
  return { price, units, feeLamports: signatures + priority }
}
