import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
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
