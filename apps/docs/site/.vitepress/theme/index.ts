import type { Theme } from 'vitepress';
import { useRoute } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h, nextTick, onMounted, watch } from 'vue';

import ConsolePicture from './ConsolePicture.vue';
import HeroCode from './HeroCode.vue';
import { rememberLanguage, showLanguage } from './languages.ts';
import RedocReference from './RedocReference.vue';
import RunOperation from './RunOperation.vue';
import { searchServedPages, unlinkOthers } from './served-pages.ts';

import './style.css';

const theme: Theme = {
  extends: DefaultTheme,
  setup() {
    const route = useRoute();
    onMounted(() => {
      rememberLanguage();
      showLanguage();
      unlinkOthers();
    });
    watch(
      () => route.path,
      () =>
        void nextTick(() => {
          showLanguage();
          unlinkOthers();
        }),
      { flush: 'post' },
    );
  },
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-image': () => h(HeroCode) }),
  enhanceApp({ app, siteData }) {
    searchServedPages(siteData.value);
    app.component('ConsolePicture', ConsolePicture);
    app.component('RedocReference', RedocReference);
    app.component('RunOperation', RunOperation);
  },
};
export default theme;
