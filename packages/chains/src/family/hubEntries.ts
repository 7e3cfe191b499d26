import type { Hex, ReadOptions } from '@causeway/core'

/** What the hub's generic mapping says of one id of one account, and when it said so. */
export type HubEntry = {
  /** Empty when there is no entry. */
  readonly data: Hex
  /** Time of the block that wrote the entry; 0 when there is none. */
  readonly createdAtSeconds: bigint
  /** Time of the block that was read: an entry that comes later is not older. */
  readonly readAtSeconds: bigint
}

/** What families read of the hub. */
export interface HubEntries {
  /** @throws UpstreamDisagreementError, UpstreamUnavailableError */
  read(user: Hex, id: Hex, options: ReadOptions): Promise<HubEntry>
}
