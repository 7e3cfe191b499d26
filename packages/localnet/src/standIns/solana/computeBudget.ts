import { ComputeBudgetProgram, SystemProgram, type VersionedMessage } from '@solana/web3.js'

/** Compute units and price that a message requests, and the fee that follows. */
export type ComputeBudget = {
  /** Micro-lamports per unit. */
  readonly price: bigint
  /** Requested units. Where none are: 0 in version 1, and the instructions' defaults in older versions. */
  readonly units: bigint
  /** Fee of the whole transaction. */
  readonly feeLamports: bigint
}

const lamportsPerSignature = 5_000n
const microLamportsPerLamport = 1_000_000n
/** Default units of an instruction, by its program. */
const [unitsPerInstruction, unitsPerBuiltin] = [200_000n, 3_000n]
const unitsMax = 1_400_000n
const computeBudgetProgram = ComputeBudgetProgram.programId.toBase58()
const builtins: ReadonlySet<string> = new Set([computeBudgetProgram, SystemProgram.programId.toBase58()])
/** Numbers of instructions of the compute budget program. */
const setLimit = 2
const setPrice = 3

/** @source Solana documentation, "Transaction fees" and "Compute budget"; SIMD-0385 */
export function computeBudgetOf(message: VersionedMessage): ComputeBudget {
  const signatureFee = lamportsPerSignature * BigInt(message.header.numRequiredSignatures)
  if (message.version !== 1) return budgetByInstructions(message, signatureFee)
  const { computeUnitLimit, priorityFee } = message.transactionConfig
  const [units, priorityLamports] = [BigInt(computeUnitLimit ?? 0), BigInt(priorityFee ?? 0)]
  const price = units === 0n ? 0n : (priorityLamports * microLamportsPerLamport) / units
  return { price, units, feeLamports: signatureFee + priorityLamports }
}

/** The budget of older versions, which instructions of the compute budget program request. */
function budgetByInstructions(
  { compiledInstructions, staticAccountKeys }: VersionedMessage,
  signatureFee: bigint,
): ComputeBudget {
  let [price, limit, defaultUnits] = [0n, undefined as bigint | undefined, 0n]
  for (const { programIdIndex, data } of compiledInstructions) {
    const program = staticAccountKeys[programIdIndex]?.toBase58() ?? ''
    defaultUnits += builtins.has(program) ? unitsPerBuiltin : unitsPerInstruction
    if (program !== computeBudgetProgram) continue
    const bytes = Buffer.from(data)
    if (bytes[0] === setLimit) limit = BigInt(bytes.readUInt32LE(1))
    if (bytes[0] === setPrice) price = bytes.readBigUInt64LE(1)
  }
  const requestedUnits = limit ?? defaultUnits
  const units = requestedUnits < unitsMax ? requestedUnits : unitsMax
  // Rounded up.
  const priorityLamports = (price * units + microLamportsPerLamport - 1n) / microLamportsPerLamport
  return { price, units, feeLamports: signatureFee + priorityLamports }
}
