/**
 * A configured value that a chain contradicts. A start prints `problem` alone; the check of a whole configuration
 * prints the other members as well.
 */
export type ChainFinding = {
  readonly kind: FindingKind
  /** File and place of the value, e.g. `quote: chains.base.multicall3`; for a getter's, of its contract. */
  readonly setting: string
  /** Configured value. */
  readonly value: string
  /** Contradicting value on the chain. */
  readonly said: string
  /** All of it in words, as starts print it. */
  readonly problem: string
}

/** Subject of a contradiction: the chain of an endpoint, the code at an address, or a contract's own data. */
export type FindingKind =
  | ('network' | 'contract' | 'code' | 'heartbeatSeconds' | 'vaultAccount' | 'refusal' | 'guardianSet')
  | ContractGetter

/** Getters of contracts, by the names of their functions. */
export type ContractGetter =
  | ('description' | 'decimals' | 'symbol')
  | ('token0' | 'token1' | 'fee' | 'tickSpacing' | 'factory')
  | ('depository' | 'depositRouter' | 'DEPOSIT_CODE_HASH' | 'SWEEP_CODE_HASH')
  | 'tokenProgram'
