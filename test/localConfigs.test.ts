import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { rehearsalAddresses } from '../packages/chains/src/config/localAddresses.ts'
import { loadArtifacts } from '../packages/localnet/src/contracts/artifacts.ts'
import { rehearsedAddresses } from '../packages/localnet/src/rehearsal/market.ts'
import { readRawConfigSet } from '../scripts/configs/configFiles.ts'
import { deployThrowAwayNetwork } from '../scripts/configs/deployThrowAwayNetwork.ts'
import { localConfigs } from '../scripts/configs/localConfigs.ts'
import { root } from '../scripts/configs/writeJson.ts'

describe('configuration of the local network', () => {
  test('the committed files name what a fresh deployment gives; run scripts/writeLocalConfigs.ts', async () => {
    const fresh = localConfigs(await deployThrowAwayNetwork())
    expect(readRawConfigSet(join(root, 'configs'), 'local')).toEqual(JSON.parse(JSON.stringify(fresh)))
  })
})

test('what other environments refuse of a rehearsal is what one deploys; run scripts/writeLocalConfigs.ts', async () => {
  expect([...rehearsalAddresses]).toEqual([...rehearsedAddresses(await loadArtifacts())].sort())
})
