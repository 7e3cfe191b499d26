/** Gas units that a new slot and a new account take on a network above those that the release assumes. */
export type DearerState = { readonly slotUnits: bigint; readonly accountUnits: bigint }

/** Current gas units of a kind of transaction, as the network estimates them. */
export type ShapeUnits = {
  readonly shape: string
  /** Units that the network estimates. */
  readonly units: bigint
  /** Units that the service assumes. */
  readonly countedUnits: bigint
}
