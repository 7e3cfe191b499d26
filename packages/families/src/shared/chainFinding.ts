/**
 * A value of the configuration that a chain contradicts, in parts. Starts print `problem`; who compares a whole
 * configuration prints the rest beside it.
 */
export type ChainFinding = {
  readonly kind: FindingKind
  /** The file and the place in it, `quote: chains.base.multicall3`. Of what a contract says, the contract's. */
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

/** Named as the functions that are asked. */
export type ContractGetter =
  | ('description' | 'decimals' | 'symbol')
  | ('token0' | 'token1' | 'fee' | 'tickSpacing' | 'factory')
  | ('depository' | 'depositRouter' | 'DEPOSIT_CODE_HASH' | 'SWEEP_CODE_HASH')
  | 'tokenProgram'
