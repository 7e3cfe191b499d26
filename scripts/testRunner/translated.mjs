// Before the first end-to-end test: services that tests start run as JavaScript, which must be of this source.
import { translateSources } from '../translate.mjs'

export default async () => {
  await translateSources()
}
