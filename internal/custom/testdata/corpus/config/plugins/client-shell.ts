import type { Plugin } from "@opencode-ai/plugin"

// What people do with the shell of the plugin's input.
export const Sounds: Plugin = async ({ $, directory, client }) => {
  const os = process.platform
  const has = async (name: string) => (await $`which ${name}`.quiet().nothrow()).exitCode === 0
  const play = async (sound: string) => {
    if (await has("no-such-player")) await $`no-such-player ${sound}`.quiet()
    else await $`echo "play ${sound}" >> ${directory}/sounds.log`.quiet()
  }
  const quiet = process.env.SHOP_QUIET === "1"
  console.log("sounds are ready on", os)
  return {
    event: async ({ event }) => {
      if (quiet) return
      if (event.type === "session.idle") await play("done.wav")
      else if (event.type === "session.error") await play(`error ${(event.properties as any).error?.name}.wav`)
      else if ((event.type as string) === "session.status" && (event.properties as any).status.type === "retry") {
        const r = await $`sh -c ${"echo retry; exit 3"}`.nothrow().quiet()
        await $`echo ${r.exitCode} ${r.text().trim()} >> ${directory}/sounds.log`
      }
      await client.tui.showToast({ body: { message: event.type, variant: "success", duration: 100 } })
    },
  }
}
